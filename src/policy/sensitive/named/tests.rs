use super::*;

fn found(name: &str) -> Option<(String, bool)> {
    let words: Vec<String> = NAMES.iter().map(|word| (*word).to_owned()).collect();
    let found = find(name.as_bytes(), &words, &Separators::default())?;
    Some((found.word.to_owned(), found.is_last))
}

fn is_secret(name: &str, value: &str) -> bool {
    let words: Vec<String> = NAMES.iter().map(|word| (*word).to_owned()).collect();
    find(name.as_bytes(), &words, &Separators::default()).is_some_and(|named| named.is_told_by(value.as_bytes()))
}

#[test]
fn whole_words_of_segments_count() {
    for name in [
        "user:1:password",
        "user:password:1001",
        "user.pwd",
        "password",
        "{user:1}:Passwd",
        "user:1:loginPassword",
        "user:1:user_pwd",
        "pwd_17",
        "用户:1:登录密码",
        "口令:a@b.cn",
        "app:7:client-secret",
    ] {
        assert!(found(name).is_some_and(|(_, is_last)| is_last), "{name}");
    }
    for name in ["password:user:1", "user:password:alice", "secret:santa"] {
        assert!(found(name).is_some_and(|(_, is_last)| !is_last), "{name}");
    }
    for name in ["weak:password", "security:Common-Passwd", "弱密码"] {
        assert_eq!(found(name), None, "{name}");
    }
    for name in [
        "password:reset:1",
        "pwd:try:count:5",
        "pwd:salt:1001",
        "pwd:policy:version",
        "pwd:encryptAlg:1",
        "password:reset_link:7",
        "bank:secret:version:1",
        "用户:密码:错误次数:1",
        "live:redpacket:口令:1001",
        "ad:淘口令:7",
        "share:口令",
    ] {
        assert_eq!(found(name), None, "{name}");
    }
    assert!(found("pwd:salt:password:1").is_some_and(|(_, is_last)| is_last));
    for name in ["", "user:1", "password-reset-page", "pwd_changed_at", "passwordless:1", "secretary:1", "密码学:1"]
    {
        assert_eq!(found(name), None, "{name}");
    }
}

#[test]
fn codes_and_marks_of_a_procedure_are_none() {
    for (name, value) in [
        ("edu:user:forget:pwd:1001", "482913"),
        ("edu:user:reset:password:1001", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"),
        ("edu:reset:user:pwd:1001", "482913"),
        ("edu:sms:reset_pwd:1001", "482913"),
        ("edu:mail:resetPassword:1001", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"),
        ("edu:mail:findPwd:1001", "3f9ac1d27be04568"),
        ("edu:code:modify_password:1001", "482913"),
        ("edu:captcha:update-pwd:1001", "x7k2"),
        ("edu:token:set:password:1001", "a1B2c3D4e5F6"),
        ("edu:check:pwd:1001", "passed"),
        ("edu:last:change:pwd:1001", "20261127"),
        ("edu:err:pwd:1001", "1001"),
        ("用户:找回密码:1001", "482913"),
        ("用户:重置:密码:1001", "482913"),
    ] {
        assert!(!is_secret(name, value), "{name}");
        assert!(is_secret(name, "Abc@123456"), "{name}: what only a person chooses");
    }
    // What has a password, or is one that was given to somebody.
    for name in [
        "sys:code:repo:password:7",
        "update:server:pwd:7",
        "user:new:password:7",
        "user:initPassword:7",
        "user:default_pwd:7",
        "iot:device:pwd:7",
        "iot:lock:pwd:7",
        "repo:code_base_pwd:7",
        "sys:mail:password",
        "用户:初始密码:1001",
    ] {
        assert!(is_secret(name, "482913") && is_secret(name, "hunter2"), "{name}");
    }
    // Keys of a server are not chosen.
    assert!(is_secret("app:reset:secret:7", "JBSWY3DPEHPK3PXP") && is_secret("otp:secret:7", "JBSWY3DPEHPK3PXP"));
}

#[test]
fn words_in_one_count_behind_a_few_others() {
    for name in
        ["user:loginpwd:7", "user:PAYPWD:7", "user:dbpassword", "app:clientsecret:7", "user:zhifumima:7", "用户:mima:1"]
    {
        assert!(found(name).is_some_and(|(_, is_last)| is_last), "{name}");
        assert!(is_secret(name, "Xy7!abcd"), "{name}");
    }
    assert!(is_secret("user:paypwd:7", "882211") && is_secret("library:reader:mima:3", "882211"));
    assert!(!is_secret("coin:user:change:paypwd:7", "882211") && !is_secret("live:redpacket:kouling:7", "x7k2p9"));
    for name in ["user:resetpwd:7", "user:oldsecretary:7", "xmima:1", "user:pwd_type:7"] {
        assert_eq!(found(name), None, "{name}");
    }
}

#[test]
fn codes_for_one_login_are_none() {
    for name in [
        "auth:one_time_password:7",
        "auth:oneTimePwd:7",
        "auth:dynamic:password:7",
        "sms:pwd:13812345678",
        "auth:动态密码:7",
        "auth:短信密码:7",
    ] {
        assert!(!is_secret(name, "482913") && !is_secret(name, "4829"), "{name}");
        assert!(is_secret(name, "Abc12345") && is_secret(name, "482913482913"), "{name}");
    }
    assert!(is_secret("auth:time:password:7", "482913") && is_secret("user:email:password:7", "482913"));
}

#[test]
fn uuids_are_no_passwords() {
    let uuid = "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
    for name in [
        "auth:lost_password:7",
        "auth:setup-password:8",
        "user:password:7",
        "用户:密码:7",
        "celery:change_secret:7",
        "task:rotate-secret:7",
    ] {
        assert!(!is_secret(name, uuid), "{name}");
    }
    assert!(
        is_secret("app:secret:7", uuid)
            && is_secret("app:client:secret:7", uuid)
            && is_secret("task:rotate-secret:7", "JBSWY3DPEHPK3PXP")
    );
}

#[test]
fn codes_that_are_given_to_everybody_are_none() {
    for name in [
        "live:redpacket:password:7",
        "live:red_envelope:password:7",
        "live:redPacketPwd:7",
        "live:红包:password:7",
        "live:redpacket:pwd:7",
        "pan:share:pwd:7",
        "pan:share_password:7",
        "网盘:分享密码:7",
    ] {
        assert!(!is_secret(name, "x7k2") && !is_secret(name, "abc12345") && !is_secret(name, "恭喜发财"), "{name}");
        assert!(is_secret(name, "Abc@123456"), "{name}: what only a person chooses");
    }
    for name in ["carshare:user:pwd:7", "share:user:password:1001", "shareholder:pwd:7", "meeting:room:pwd:7"] {
        assert!(is_secret(name, "x7k2p9"), "{name}");
    }
    assert!(is_shared(b"sharePwd", "pwd") && is_shared("红包密码".as_bytes(), "密码"));
    assert!(!is_shared(b"pwd", "pwd") && !is_shared(b"shareUserPwd", "pwd"));
    let of_share = |name: &str| is_of_share(name.as_bytes(), &Separators::default());
    assert!(of_share("pan:share:7") && of_share("live:红包:7") && of_share("live:red_packet"));
    assert!(!of_share("share:user:7") && !of_share("user:7") && !of_share(""));
}

#[test]
fn plain_values_are_secrets() {
    for value in ["hunter2", "123456", "correct horse battery", "\"P@ssw0rd\"", "密码很长", "changeme", "{noop}hunter2"]
    {
        assert!(is_secret("user:1:password", value), "{value}");
    }
    assert!(is_secret("app:1:secret", "0123456789abcdef0123456789abcdef"));
    assert!(is_secret("user:password:alice", "hunter2") && is_secret("password:admin:root", "P@ssw0rd!"));
    for value in ["abc123456", "Aa123456", "abc123", "Abc12345"] {
        assert!(is_secret("user:password:alice", value), "{value}");
    }
    for value in ["abc123457", "a1b2c3d4", "12abcdef", "abcdef12"] {
        assert!(!is_secret("user:password:alice", value), "{value}");
    }
}

#[test]
fn flags_times_markup_hashes_and_ciphertexts_are_none() {
    for value in [
        "",
        "1",
        "true",
        "false",
        "null",
        "unset",
        "****",
        "h****2",
        "＊＊＊＊",
        "[REDACTED]",
        "1700000000",
        "1700000000123",
        "2024-11-04T12:00:00Z",
        "<html><body>Reset your password</body></html>",
        "{\"min\":8,\"symbols\":true}",
        "https://example.com/reset",
        "$2b$12$abcdefghijklmnopqrstuuMG5kIhQzS1kZ2eYbQzqzqzqzqzqzqzq",
        "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$hash",
        "0123456789abcdef0123456789abcdef",
        "5E884898DA28047151D0E56F8DC6292773603D0D6AABBDD62A11EF721D1542D8",
        "XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg=",
        "U2FsdGVkX1+vupppZksvRf5pq5g5XjFRlipRkwB0K1Y=",
        "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
        "ENC(7oFh0zyhDgx2bRQmqLZB0A==)",
        "bad\u{0}text",
        "line\nline",
    ] {
        assert!(!is_secret("user:1:password", value), "{value:?}");
    }
    assert!(!is_secret("user:1:password", &"x9".repeat(200)));
    for value in ["482913", "alice", "in-progress", "step_2", "sms", "1001", "a8f5f167", "user:1001", "weak v2"] {
        assert!(!is_secret("password:user:ann", value), "{value:?}");
    }
}
