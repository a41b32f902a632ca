use rdblens::rdb::cursor::Cursor;
use rdblens::rdb::header::Header;
use rdblens::rdb::scan::{Item, Scanner, State};
use rdblens::rdb::string::RawString;
use rdblens::rdb::walk::*;
struct P(Vec<i64>, usize);
impl Visit for P {
    fn expiring_pair(&mut self, _f: RawString<'_>, _v: RawString<'_>, e: FieldExpiry) {
        self.1 += 1;
        if let Some(x) = e.0 {
            self.0.push(x);
        }
    }
}
#[test]
fn dbg() {
    let dir = std::env::var("DBG_DIR").unwrap();
    let dump = std::fs::read(format!("/work/shared/corpus/{dir}/dump.rdb")).unwrap();
    let mut cursor = Cursor::new(&dump, 0);
    let header = Header::read(&mut cursor).unwrap();
    let mut s = Scanner::new(cursor, State { family: header.family, db: None });
    loop {
        let e = match s.next_item().unwrap() {
            Item::Entry(e) => e,
            Item::End => break,
            _ => continue,
        };
        let key = e.key.to_bytes().unwrap().into_owned();
        let mut p = P(vec![], 0);
        s.value(&e, &mut p).unwrap();
        let k = String::from_utf8_lossy(&key).into_owned();
        if p.0.len() > 0 {
            let mut sorted = p.0.clone();
            sorted.sort();
            println!("VS {} {} {} {:?}", k.replace(' ', "_"), p.1, p.0.len(), p.0);
        }
    }
}
