//! First segments that say what a key is for: `token:`, `captcha_codes:`, `sys_config:`, `oauth2_access_token:`.
//!
//! Every application has such keys, whatever its business is: who is logged in and may do what, codes that it sends, its configuration.
//! All words of a segment must be about this, and one of them about nothing else.

use crate::policy::content::{is_one_of, words_of};

/// Words of purposes.
const PURPOSES: [&[u8]; 76] = [
    b"token",
    b"tokens",
    b"captcha",
    b"captchas",
    b"kaptcha",
    b"vcode",
    b"verify",
    b"verification",
    b"code",
    b"codes",
    b"sms",
    b"otp",
    b"auth",
    b"oauth",
    b"oauth2",
    b"sso",
    b"jwt",
    b"login",
    b"logins",
    b"logout",
    b"loginfail",
    b"signin",
    b"register",
    b"password",
    b"pwd",
    b"permission",
    b"permissions",
    b"perm",
    b"perms",
    b"authority",
    b"authorities",
    b"role",
    b"roles",
    b"menu",
    b"menus",
    b"dept",
    b"depts",
    b"tenant",
    b"tenants",
    b"config",
    b"configs",
    b"conf",
    b"setting",
    b"settings",
    b"dict",
    b"dicts",
    b"param",
    b"params",
    b"enum",
    b"enums",
    b"limit",
    b"limiter",
    b"ratelimit",
    b"throttle",
    b"repeat",
    b"submit",
    b"idempotent",
    b"idempotency",
    b"nonce",
    b"blacklist",
    b"whitelist",
    b"online",
    b"template",
    b"templates",
    b"i18n",
    b"seq",
    b"sequence",
    b"snowflake",
    "令牌".as_bytes(),
    "验证码".as_bytes(),
    "权限".as_bytes(),
    "角色".as_bytes(),
    "菜单".as_bytes(),
    "字典".as_bytes(),
    "配置".as_bytes(),
    "限流".as_bytes(),
];

/// Words beside them, which say nothing about a business there, but may name one alone.
const BESIDE: [&[u8]; 48] = [
    b"user",
    b"users",
    b"account",
    b"admin",
    b"member",
    b"client",
    b"sys",
    b"system",
    b"app",
    b"api",
    b"web",
    b"access",
    b"refresh",
    b"social",
    b"state",
    b"status",
    b"mail",
    b"email",
    b"phone",
    b"mobile",
    b"image",
    b"img",
    b"ip",
    b"id",
    b"ids",
    b"key",
    b"keys",
    b"list",
    b"info",
    b"detail",
    b"details",
    b"data",
    b"type",
    b"default",
    b"prefix",
    b"children",
    b"tree",
    b"err",
    b"error",
    b"fail",
    b"retry",
    b"cnt",
    b"count",
    b"rate",
    b"lock",
    b"cache",
    b"session",
    b"sessions",
];

/// Returns whether a first segment says what its keys are for.
pub(super) fn is_purpose(segment: &str) -> bool {
    let words = || segment.as_bytes().split(|byte| *byte == b' ').flat_map(words_of);
    words().any(|word| is_one_of(word, &PURPOSES))
        && words().all(|word| is_one_of(word, &PURPOSES) || is_one_of(word, &BESIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_are_told_from_businesses() {
        for purpose in [
            "token",
            "login_tokens",
            "captcha_codes",
            "sys_config",
            "sys_dict",
            "repeat_submit",
            "rate_limit",
            "pwd_err_cnt",
            "oauth2_access_token",
            "user_role_ids",
            "permission_menu_ids",
            "dept_children_ids",
            "SMS",
            "userToken",
            "prefix_user_token",
            "DEFAULT_CODE_KEY",
            "验证码",
        ] {
            assert!(is_purpose(purpose), "{purpose}");
        }
        for business in
            ["user", "order", "account", "pay_config", "smsplus", "api", "dataset", "user_details", "message", ""]
        {
            assert!(!is_purpose(business), "{business}");
        }
    }
}
