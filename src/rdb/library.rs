//! First line of a function library, which names its engine and the library: `#!lua name=mylib`.

use super::header::Family;
use crate::error::{Error, Result};
use crate::wording::{Wording, wording};
use crate::words;

/// Returns the name in the first line; fails where servers do on load (`functionExtractLibMetaData` in `functions.c`). The code
/// behind it is not compiled.
///
/// Modules of Valkey may add engines; Redis has one.
pub fn name(code: &[u8], family: Family, offset: u64) -> Result<Vec<u8>> {
    let wrong = |what| Err(Error::corrupt(offset, what));
    // Servers search a C string for the end of the line.
    let line = code.iter().position(|byte| matches!(byte, b'\n' | 0)).filter(|&end| code.get(end) == Some(&b'\n'));
    let Some(line) = line.and_then(|end| code.get(..end)).filter(|line| line.starts_with(b"#!")) else {
        return wrong(no_head());
    };
    let Ok(words) = words::split(line) else { return wrong(no_head()) };
    let (engine, words) = words.split_first().map_or((&[][..], &[][..]), |(first, rest)| (first.as_slice(), rest));
    let engine = engine.get(2..).unwrap_or_default();
    if family == Family::Redis && !engine.eq_ignore_ascii_case(b"lua") {
        let engine = engine.escape_ascii();
        return wrong(wording!("servers have no engine {engine} for functions", "服务器没有名为 {engine} 的函数引擎"));
    }
    let mut name = None;
    for word in words {
        let is_name = word.get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"name="));
        if !is_name || name.replace(word.get(5..).unwrap_or_default().to_vec()).is_some() {
            return wrong(no_head());
        }
    }
    let is_valid =
        |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match name {
        Some(name) if is_valid(&name) => Ok(name),
        Some(_) => wrong(wording!(
            "the name of a function library has other characters than letters, digits and underscores",
            "函数库名称含有字母、数字和下划线以外的字符"
        )),
        None => wrong(no_head()),
    }
}

fn no_head() -> Wording {
    wording!("a function library does not begin with #!ENGINE name=NAME", "函数库的开头不是 #!引擎 name=名称")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_sound(code: &[u8]) -> bool {
        name(code, Family::Redis, 0).is_ok()
    }

    #[test]
    fn libraries_that_servers_load_are_sound() {
        for (code, expected) in [
            (&b"#!lua name=mylib\nredis.call()"[..], "mylib"),
            (b"#!LUA  NAME=a_1 \n", "a_1"),
            (b"#!lua name=x\n\0", "x"),
            (b"#!lua name=\"a\"\n", "a"),
            (b"#!lua \"name=\\x61\"\n", "a"),
            (b"#!lua\tname='a'\r\n", "a"),
            (b"#!\"lua\" name=a\n", "a"),
        ] {
            assert_eq!(name(code, Family::Redis, 0).unwrap(), expected.as_bytes(), "{}", code.escape_ascii());
        }
        assert!(name(b"#!js name=a\n", Family::Valkey, 0).is_ok());
    }

    #[test]
    fn libraries_that_servers_refuse_are_not() {
        let refused = [
            &b""[..],
            b"redis.register_function()",
            b"#!lua name=a",
            b"#!lua name=a\0\n",
            b"#!lua\n",
            b"#!js name=a\n",
            b"#! name=a\n",
            b"#!lua name=\n",
            b"#!lua name=a-1\n",
            b"#!lua name=a name=b\n",
            b"#!lua name=a description=b\n",
            b"#!lua name=\"a\n",
            b"#!lua name='a\n",
            b"#!lua name=\"a\"b\n",
            b"#!lua \"name=a-b\"\n",
            b"#!lua \"x\"\n",
            b"#!lua name=a\\\n",
            b"#!lua\x0cname=a\n",
            b"#!js \"name=a\"\n",
        ];
        for code in refused {
            assert!(!is_sound(code), "{}", code.escape_ascii());
        }
    }
}
