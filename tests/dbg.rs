use rdblens::rdb::cursor::Cursor;
use rdblens::rdb::header::Header;
use rdblens::rdb::scan::{Item, Scanner, State};
use rdblens::rdb::string::RawString;
use rdblens::rdb::walk::*;
struct P(Vec<(u64, u64, bool)>, Vec<usize>);
impl Visit for P {
    fn pair(&mut self, f: RawString<'_>, v: RawString<'_>) {
        self.0.push((f.len(), v.len(), false));
    }
    fn expiring_pair(&mut self, f: RawString<'_>, v: RawString<'_>, e: FieldExpiry) {
        self.0.push((f.len(), v.len(), e.0.is_some()));
    }
    fn element(&mut self, f: RawString<'_>) {
        self.0.push((f.len(), 0, f.to_bytes().unwrap().iter().all(|c| c.is_ascii_digit() || *c == b'-')));
    }
}
#[test]
fn dbg() {
    let dir = std::env::var("DBG_DIR").unwrap();
    let pat = std::env::var("DBG_KEY").unwrap();
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
        let mut p = P(vec![], vec![]);
        s.value(&e, &mut p).unwrap();
        let k = String::from_utf8_lossy(&key).into_owned();
        if k.starts_with(&pat) && !p.0.is_empty() {
            let long = p.0.iter().position(|x| x.0 > 64 || x.1 > 64);
            let nonint = p.0.iter().position(|x| !x.2);
            let ttl = p.0.iter().filter(|x| x.2).count();
            let sums: (u64, u64) = p.0.iter().fold((0, 0), |a, x| (a.0 + x.0, a.1 + x.1));
            println!(
                "{k} klen {} exp {} {:?} n={} firstlong={:?} nonint={:?} ttl={} sums={:?} first={:?}",
                key.len(),
                e.expires_at.is_some(),
                e.value_type,
                p.0.len(),
                long,
                nonint,
                ttl,
                sums,
                &p.0[..p.0.len().min(3)]
            );
        }
    }
}
