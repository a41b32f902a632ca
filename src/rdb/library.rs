//! First line of a function library, which names its engine and the library: `#!lua name=mylib`.

use super::header::Family;
use crate::error::{Error, Result};
use crate::wording::{Wording, wording};

/// Returns the name in the first line; fails where servers do on load (`functionExtractLibMetaData` in `functions.c`). The code
/// behind it is not compiled.
///
/// Modules of Valkey may add engines; Redis has one.
pub fn name(code: &[u8], family: Family, offset: u64) -> Result<&[u8]> {
    let wrong = |what| Err(Error::corrupt(offset, what));
    // Servers search a C string for the end of the line.
    let line = code.iter().position(|byte| matches!(byte, b'\n' | 0)).filter(|&end| code.get(end) == Some(&b'\n'));
    let Some(line) = line.and_then(|end| code.get(..end)).filter(|line| line.starts_with(b"#!")) else {
        return wrong(no_head());
    };
    if line.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'\\')) {
        // No server writes quotes. The whole line stands for the name: libraries of other names have other lines.
        return Ok(line);
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let engine = words.next().and_then(|word| word.get(2..)).unwrap_or_default();
    if family == Family::Redis && !engine.eq_ignore_ascii_case(b"lua") {
        let engine = engine.escape_ascii();
        return wrong(wording!("servers have no engine {engine} for functions", "服务器没有名为 {engine} 的函数引擎"));
    }
    let mut name = None;
    for word in words {
        let is_name = word.get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"name="));
        if !is_name || name.replace(word.get(5..).unwrap_or_default()).is_some() {
            return wrong(no_head());
        }
    }
    let is_valid =
        |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match name {
        Some(name) if is_valid(name) => Ok(name),
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
        for code in
            [&b"#!lua name=mylib\nredis.call()"[..], b"#!LUA  NAME=a_1 \n", b"#!lua name=x\n\0", b"#!lua name=\"a\"\n"]
        {
            assert!(is_sound(code), "{}", code.escape_ascii());
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
        ];
        for code in refused {
            assert!(!is_sound(code), "{}", code.escape_ascii());
        }
    }
}
