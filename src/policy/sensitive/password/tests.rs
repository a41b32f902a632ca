use super::*;

fn given(field: &str, value: &str) -> Option<String> {
    let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
    word(field.as_bytes(), value.as_bytes(), &words).map(str::to_owned)
}

#[test]
fn plain_text_passwords_are_found() {
    for field in [
        "password",
        "Password",
        "user_password",
        "PWD",
        "client-secret",
        "api_key",
        "apiKey",
        "access.token",
        "userPsw",
    ] {
        assert!(given(field, "hunter2").is_some(), "{field}");
    }
    for field in ["pass", "db_pass", "userPass", "smtpPass", "spring.mail.pass", "DB_PASS"] {
        assert_eq!(given(field, "hunter2").as_deref(), Some("pass"), "{field}");
    }
    for field in [
        "password2",
        "pwd1",
        "passwordConfirm",
        "password_confirmation",
        "passwordPlain",
        "密码明文",
        "登录密碼",
        "SecretAccessKey",
        "aws_secret_access_key",
    ] {
        assert!(given(field, "Hunter2x").is_some(), "{field}");
    }
    assert_eq!(given("old_Passwd", "x9").as_deref(), Some("passwd"));
    assert!(given("api_key", "0123456789abcdef0123456789abcdef").is_some());
    assert!(given("password", "${REDIS_PWD:Abc@12345}").is_some());
    for value in ["${REDIS_PWD}", "${REDIS_PWD:}", "${REDIS_PWD:root}", "${A:${B:Abc@12345}}", "${A:ENC(x7k2p9)}"] {
        assert_eq!(given("password", value), None, "{value}");
    }
}

#[test]
fn other_fields_and_hashed_passwords_are_not() {
    for field in ["", "token", "password_set", "pwd_changed_at", "secretary", "name", &"x".repeat(100)] {
        assert_eq!(given(field, "hunter2"), None, "{field}");
    }
    for field in
        ["isPass", "exam_pass", "boardingPass", "bypass", "compass", "pass_rate", "password2024", "passwordText"]
    {
        assert_eq!(given(field, "hunter2"), None, "{field}");
    }
    for value in ["1", "true", "Y", "passed", "通过", "2026-11-27", "hunter", "123456", "pass rate 80%"] {
        assert_eq!(given("pass", value), None, "{value}");
    }
    for time in ["1764150000", "1764150000123", "2025-01-01 10:00:00", "2025/01/01"] {
        assert_eq!(given("lastChangePwd", time), None, "{time}");
    }
    for value in [
        "",
        " ",
        "null",
        "NULL",
        "******",
        "true",
        "0",
        "0123456789abcdef0123456789abcdef",
        "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
        "{SSHA}abcd",
        "pbkdf2_sha256$1000$x$y",
        "49ba59abbe56e057",
        "5f4dcc3b5aa765d61d8327deb882cf99:x7Q",
        "x7Q$5f4dcc3b5aa765d61d8327deb882cf99",
        "5f4dcc3b5aa765d61d8327deb882cf99,x7Q",
        "###5f4dcc3b5aa765d61d8327deb882cf99",
        "*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29",
        "$P$B55D6LjfHDkINU5wF.v2BuuzO0/XPk/",
        "$S$DrRWkSbvvZyVDWHLK6GpuDhE8Qm5SN/9RNkwmJIchbWHUZpUJ4QH",
        "!aB3dEfGhIjKlMnOpQrStUvWxYz0123456789abcd",
        "密码",
        "请输入密码",
        "密码不能为空",
        "Please enter your password",
        "Password",
        "VARCHAR(64)",
        "string",
        "required",
        "Y",
        "^[A-Za-z0-9]{8,20}$",
        "/home/app",
        "5",
        "12",
        "未设置",
        "保密",
        "enabled",
        "密碼",
        "パスワード",
        "密码不能少于6位",
        "请输入6到16位密码",
        "您正在重置密码，验证码${code}，5分钟内有效",
        "密码:${pwd}",
        "SMS_987654321",
        "http://user-service/api",
        "sys:user:edit",
        "input-password",
        "required|min:6",
        "ENC[AES256_GCM,data:p673w7A=,iv:YY=,aad:UQ=,tag:A=]",
        "SM4:eHh4eHh4eHh4eHh4eHh4eA==",
        "RSA|QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlq",
        "hmac-sha256:YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=",
        "sm3:a1b2a1b2",
        "0xa1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2",
        "######",
        "------",
        "xxxxxx",
        "......",
        "已加密",
        "已脱敏",
        "/pages/resetPwd/index",
        "login.form.password",
        "user_pwd",
        "String!",
        "C:\\secrets\\db.txt",
        "arn:aws:secretsmanager:cn-north-1:1:secret:db",
        "已过期",
        "strong",
        "Password is too short",
        "Passwort",
        "-",
        "--",
        "——",
        "/",
        ".",
        "?",
        "_",
        "x",
        "暂无",
        "not set",
        "/opt/app1",
    ] {
        assert_eq!(given("password", value), None, "{value}");
    }
    for value in ["/app1", "/", "/Srv/App1/releases/7"] {
        assert!(given("PWD", value).is_none() && given("OLDPWD", value).is_none(), "{value}");
    }
    assert!(given("PWD", "hunter2").is_some() && given("pwd", "/App1").is_some() && given("DB_PWD", "/App1").is_some());
    // Codes that are given to everybody.
    for (field, value) in [("sharePwd", "x7k2"), ("share_password", "abc12345"), ("红包密码", "恭喜发财")] {
        assert_eq!(given(field, value), None, "{field}");
        assert!(given(field, "Abc@123456").is_some(), "{field}");
    }
    assert!(given("shareUserPwd", "x7k2").is_some() && given("share_secret", "x7k2").is_some());
    for value in ["$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy", "{bcrypt}$2a$10$x", "ENC(7oFh0z)"] {
        assert_eq!(given("client_secret", value), None, "{value}");
    }
    assert_eq!(given("refresh_token", "2592000"), None);
    assert!(given("client_secret", "49ba59abbe56e057").is_some() && given("secret", "123456").is_some());
    for value in [
        "密码123456",
        "password",
        "my secret",
        "{noop}hunter2",
        "{PLAIN}hunter2",
        "1234567890123456",
        "abcdefabcdefabcd",
        "a:b$c",
        "string7",
        "char(x)",
        "/Ab/c9",
        "x9",
        "!@#$",
        "^a",
        "1523",
        "初始密码Abc123，请修改",
        "密码123456，请修改",
        "SMS_a",
        "user:edit",
        "a|b",
        "###abc",
        "xxx",
        "des:x",
        "design:abcd1234",
        "passwort",
        "redis://:hunter2@h",
    ] {
        assert_eq!(given("password", value).as_deref(), Some("password"), "{value}");
    }
}

#[test]
fn digests_may_be_raw_bytes() {
    let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
    for length in [16, 20, 32, 64] {
        let digest: Vec<u8> = (0..length).map(|at: u8| at.wrapping_mul(37) | 0x80).collect();
        assert_eq!(word(b"password", &digest, &words), None, "{length}");
        assert!(word(b"client_secret", &digest, &words).is_some());
        assert!(word(b"password", &digest[1..], &words).is_some());
    }
    assert_eq!(word(b"password", b" \xff\xfe\xfd0123456789a\n", &words), None, "blanks belong to it");
}

/// Returns what is found in a text.
fn ranges(text: &str) -> Vec<String> {
    let words: Vec<String> = FIELDS.iter().chain(&["token", "pin"]).map(|word| (*word).to_owned()).collect();
    let mut found = Vec::new();
    scan(text.as_bytes(), &words, |_, range| found.push(text[range].to_owned()));
    found
}

#[test]
fn members_of_json_objects_are_found_by_their_quotes() {
    assert_eq!(ranges(r#"{"id":1,"password":"a\"b","pwd" : "c9"}"#), [r#"a\"b"#, "c9"]);
    assert_eq!(ranges(r#"{"name":"password","x":"y"}"#), [""; 0]);
    assert_eq!(ranges(r#"{"password":null,"pwd":"","secret":7}"#), [""; 0]);
    assert_eq!(ranges(r#"{"password":"cut of"#), ["cut of"]);
    assert_eq!(ranges(r#"{"password":"a\\","pwd":"b\\\"c"}"#), [r"a\\", r#"b\\\"c"#]);
    assert_eq!(ranges(r#""""""""""password":""#), [""; 0]);
    assert_eq!(ranges(r#"{"\u767b\u5f55\u5BC6\u7801":"hunter2"}"#), ["hunter2"], "登录密码");
    let long = format!("{}name", "\\u5bc6\\u7801".repeat(5));
    for field in ["\\u5bc6", "\\u5bc", "\\u", "\\\\ud800", "u5bc6u7801", &long, &"\\".repeat(64)] {
        assert_eq!(given(field, "hunter2"), None, "{field}");
    }
}

#[test]
fn names_and_values_of_settings_are_found() {
    for (text, secret) in [
        (r#"[{"configKey":"sys.user.initPassword","configValue":"Abc@123456"}]"#, "Abc@123456"),
        (r#"{"configName":"账号初始密码","configKey":"sys.a.b","configValue":"123456","configType":"Y"}"#, "123456"),
        (r#"{"param_key":"db.password","id":7,"param_value":"a1b2c3d4x"}"#, "a1b2c3d4x"),
        (r#"{"name":"DB_PASSWORD","value":"Abc@12345"}"#, "Abc@12345"),
        (r#"{"d":"{\"key\":\"userPwd\",\"value\":\"Abc@12345\"}"}"#, "Abc@12345"),
    ] {
        assert_eq!(ranges(text), [secret], "{text}");
    }
    for text in [
        r#"{"name":"password","value":"请输入密码"}"#,
        r#"{"name":"password","value":"123456"}"#,
        r#"{"key":"login.password","value":"Password"}"#,
        r#"{"configKey":"sys.user.initPassword","configValue":"true"}"#,
        r#"{"configKey":"sys.password.minLength","configValue":"Abc12345"}"#,
        r#"{"configKey":"resetPwd","configValue":"123456"}"#,
        r#"{"configKey":"initPassword","configValue":"${INIT_PASSWORD}"}"#,
        r#"{"configKey":"initPassword"},{"configValue":"Abc@123456"}"#,
        r#"{"configKey":"initPassword","remarkValue":"Abc@123456"}"#,
        r#"{"configValue":"Abc@123456"}"#,
    ] {
        assert_eq!(ranges(text), [""; 0], "{text}");
    }
}

#[test]
fn members_that_php_serialized_are_found() {
    let words: Vec<String> = FIELDS.iter().map(|word| (*word).to_owned()).collect();
    for (text, expected) in [
        (r#"O:4:"User":1:{s:8:"password";s:6:"abc123";}"#, &["abc123"][..]),
        (r#"a:2:{s:4:"name";s:3:"tom";s:3:"pwd";s:7:"hunter2";}"#, &["hunter2"]),
        (r#"a:1:{s:8:"password";s:32:"5f4dcc3b5aa765d61d8327deb882cf99";}"#, &[]),
        (r#"a:1:{s:8:"password";N;}"#, &[]),
        (r#"a:1:{s:8:"password";s:"#, &[]),
    ] {
        let mut found = Vec::new();
        scan(text.as_bytes(), &words, |_, range| found.push(&text[range]));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn numbers_in_json_are_passwords_if_they_are_as_long() {
    for (text, number) in [
        (r#"{"password":123456}"#, "123456"),
        (r#"{"pwd" : 888888, "id":1}"#, "888888"),
        (r#"{"id":1,"密码":13812345678}"#, "13812345678"),
        (r#"{"@type":"com.shop.User","password":123456L}"#, "123456"),
        (r#"{"data":"{\"password\":20240101}"}"#, "20240101"),
        (r#"{"pin":123456}"#, "123456"),
    ] {
        assert_eq!(ranges(text), [number], "{text}");
    }
    for text in [
        r#"{"password":0,"pwd":1}"#,
        r#"{"password":true}"#,
        r#"{"password":8}"#,
        r#"{"password":12345}"#,
        r#"{"password":-123456}"#,
        r#"{"password":123456.5}"#,
        r#"{"password":123456e3}"#,
        r#"{"password":123456abc}"#,
        r#"{"password":123456"#,
        r#"{"password":1700000000}"#,
        r#"{"password":1700000000123}"#,
        r#"{"password":1789012345678901234}"#,
        r#"{"passwordChangedAt":20240101,"pwdCount":123456}"#,
        r#"{"accessToken":604800,"refreshToken":2592000,"token":604800,"secret":123456,"apiKey":123456}"#,
    ] {
        assert_eq!(ranges(text), [""; 0], "{text}");
    }
}

#[test]
fn objects_encoded_as_strings_are_searched() {
    let object = r#"{"id":"1","password":"h\"unter\\","pwd":"c9"}"#;
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let once = quoted(object);
    assert_eq!(ranges(object), [r#"h\"unter\\"#, "c9"]);
    for text in [once.clone(), format!("{{\"data\":{once},\"n\":1}}"), format!("[1,{once}]")] {
        assert_eq!(ranges(&text), [r#"h\\\"unter\\\\"#, "c9"], "{text}");
    }
    for text in [quoted(&once), quoted(&format!("{{\"data\":{once}}}"))] {
        assert_eq!(ranges(&text).len(), 2, "{text}");
        assert_eq!(ranges(&text)[1], "c9", "{text}");
    }
    assert_eq!(ranges(r#"{"a":"{\"password\":\"x9","b":"{\"pwd\":\"cut"#), ["x9", "cut"]);
    assert_eq!(ranges(r#"{"a":"say \"hi\"","password":"p1","b":"x"}"#), ["p1"]);
}

#[test]
fn encoded_flags_hashes_and_placeholders_are_none() {
    let bcrypt = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
    for value in ["", "****", "${DB_PASSWORD}", "<password>", "null", bcrypt, "5f4dcc3b5aa765d61d8327deb882cf99"] {
        let object = format!("{{\"password\":\"{value}\",\"x\":\"y\"}}");
        let once = serde_json::to_string(&object).unwrap();
        let twice = serde_json::to_string(&once).unwrap();
        for text in [object, format!("{{\"data\":{once}}}"), once, twice] {
            assert_eq!(ranges(&text), [""; 0], "{text}");
        }
    }
    assert_eq!(ranges(r#"{"data":"{\"name\":\"password\",\"x\":\"y\",\"password\":true}"}"#), [""; 0]);
}

#[test]
fn ciphertexts_of_aes_are_none_under_any_word() {
    let hex = |digits: usize| "0123456789abcdef".repeat(digits / 16 + 1)[..digits].to_owned();
    let base64 = |value: &str, times: usize| value.repeat(times);
    for value in [
        format!("{}:{}", hex(32), hex(256)),
        format!("{}:{}", hex(32), hex(32)),
        format!("{}:{}:{}", hex(24), hex(32), hex(50)),
        format!("{}:{}:{}", hex(32), hex(66), hex(32)),
        format!("{}:{}:{}", base64("QUJD", 4), "QUJDREVGR0hJSktMTU5PUA==", base64("eHl6", 9)),
        format!("gAAAAABl{}", base64("QUJD", 23)),
    ] {
        for field in ["accessToken", "apiKey", "clientSecret", "password"] {
            assert_eq!(given(field, &value), None, "{field}: {value}");
        }
    }
    for value in [
        format!("{}:{}", hex(32), hex(30)),
        format!("{}:{}", hex(30), hex(64)),
        format!("{}:{}:{}", hex(24), hex(30), hex(50)),
        hex(64),
        "app7:Xk29dkQ0pa81Lq".to_owned(),
        "gAAAAABlQUJD".to_owned(),
    ] {
        assert!(given("accessToken", &value).is_some(), "{value}");
    }
}

#[test]
fn pinyin_and_codes_for_one_login_are_told_apart() {
    for field in ["mima", "yonghumima", "denglu_mima", "kouling"] {
        assert!(given(field, "abc12345").is_some() && given(field, "882211").is_some(), "{field}");
    }
    assert_eq!((given("share_mima", "x7k2"), given("taokouling", "x7k2p9")), (None, None));
    for field in ["oneTimePassword", "otp_password", "动态密码", "smsPwd"] {
        assert!(given(field, "482913").is_none() && given(field, "Abc12345").is_some(), "{field}");
    }
    assert_eq!(given("password", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"), None);
}

#[test]
fn names_of_secrets_are_none() {
    let words: Vec<String> = FIELDS.iter().map(|&field| field.to_owned()).collect();
    let given = |field: &str, value: &str| word(field.as_bytes(), value.as_bytes(), &words);
    for (field, value) in [
        ("existingSecret", "db-cred"),
        ("tlsSecret", "tls-cert-2024"),
        ("passwordSecret", "db-cred"),
        ("imagePullSecret", "harbor"),
        ("secret", "tls-cert-2024"),
        ("secret", "shop-config.v2"),
        ("password", "((db-password))"),
        ("password", "$__file{/run/secrets/db}"),
        ("password", "{vault://env/redis-password}"),
        ("password", "DB_PASSWORD"),
    ] {
        assert_eq!(given(field, value), None, "{field} {value}");
    }
    for (field, value) in [
        ("secret", "123456"),
        ("clientSecret", "harbor"),
        ("clientSecret", "shop-client-7"),
        ("tlsSecret", "Abc@12345"),
        ("secret", "kXqWz-PbT4x-9Rf2"),
        ("password", "tls-cert-2024"),
    ] {
        assert!(given(field, value).is_some(), "{field} {value}");
    }
}
