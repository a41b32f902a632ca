//! Words by which locks, and keys that only look like locks, are recognised.

/// Segments that name distributed locks, each with its other [spellings](crate::policy::spelling).
pub const NAMES: &[&str] = &[
    "lock",
    "redlock",
    "redLock",
    "distLock",
    "dist_lock",
    "dist-lock",
    "redisLock",
    "redis_lock",
    "redis-lock",
    "distributedLock",
    "distributed_lock",
    "distributed-lock",
    "redissonLock",
    "redisson_lock",
    "redisson-lock",
    "rlock",
    "rLock",
    "dlock",
    "dLock",
    "rwlock",
    "rwLock",
    "readWriteLock",
    "readLock",
    "writeLock",
    "tryLock",
    "spinLock",
    "lock4j",
    "mutex",
    "分布式锁",
];

/// Parts of field names that name the holder of a lock.
pub const HOLDERS: [&[u8]; 11] =
    [b"owner", b"holder", b"token", b"client", b"thread", b"host", b"pid", b"uuid", b"request", b"instance", b"value"];

/// Parts of field names that say more about a lock.
pub const DETAILS: [&[u8]; 9] =
    [b"count", b"reentr", b"mode", b"expire", b"ttl", b"time", b"lock", b"acquired", b"lease"];

/// Segments beside `lock` whose state it may be: accounts that are locked out, things that have a lock, and what players have yet to
/// earn.
pub const LOCKABLE: [&[u8]; 31] = [
    b"login",
    b"signin",
    b"password",
    b"pwd",
    b"passwd",
    b"captcha",
    b"sms",
    b"otp",
    b"account",
    b"acct",
    b"device",
    b"iot",
    b"door",
    b"gate",
    b"bike",
    b"vehicle",
    b"cabinet",
    b"locker",
    b"smart",
    b"hardware",
    b"ip",
    b"fail",
    b"card",
    b"player",
    b"hero",
    b"level",
    b"stage",
    b"chapter",
    b"achievement",
    "账号".as_bytes(),
    "登录".as_bytes(),
];

/// Segments of other things with a lock, whose serial number a UUID may be, and of packages, which are locked to versions.
pub const THINGS: [&[u8]; 20] = [
    b"room",
    b"house",
    b"home",
    b"hotel",
    b"apartment",
    b"building",
    b"floor",
    b"car",
    b"scooter",
    b"parking",
    b"box",
    b"safe",
    b"drawer",
    b"mailbox",
    b"gateway",
    b"asset",
    b"package",
    b"npm",
    b"deps",
    "门锁".as_bytes(),
];

/// Segments of people, who may be locked out. A flag behind them may just as well be a lock that serialises their requests.
pub const PEOPLE: [&[u8]; 4] = [b"user", b"member", b"customer", b"admin"];

/// Segments of what is counted, parts of which may be locked.
pub const COUNTED: [&[u8]; 14] = [
    b"stock",
    b"inventory",
    b"sku",
    b"goods",
    b"seat",
    b"quota",
    b"amount",
    b"balance",
    b"credit",
    b"ticket",
    b"coupon",
    b"points",
    b"fund",
    "库存".as_bytes(),
];

/// Segments after `lock`, before nothing but ids, that make it a property of something.
pub const PROPERTIES: [&[u8]; 75] = [
    b"mac",
    b"imei",
    b"address",
    b"bluetooth",
    b"ringtone",
    b"timeout",
    b"biometric",
    b"biometrics",
    b"fingerprint",
    b"face",
    b"gesture",
    b"pattern",
    b"passcode",
    b"serial",
    b"sn",
    b"duration",
    b"limit",
    b"threshold",
    b"interval",
    b"color",
    b"colour",
    b"font",
    b"list",
    b"lists",
    b"status",
    b"state",
    b"info",
    b"detail",
    b"details",
    b"config",
    b"conf",
    b"setting",
    b"settings",
    b"count",
    b"num",
    b"total",
    b"history",
    b"reason",
    b"flag",
    b"stats",
    b"times",
    b"period",
    b"days",
    b"until",
    b"type",
    b"amount",
    b"qty",
    b"quantity",
    b"version",
    b"mode",
    b"code",
    b"pin",
    b"level",
    b"battery",
    b"model",
    b"firmware",
    b"brand",
    b"name",
    b"title",
    b"icon",
    b"image",
    b"style",
    b"theme",
    b"skin",
    b"sound",
    b"rule",
    b"rules",
    b"policy",
    b"option",
    b"options",
    b"plan",
    "状态".as_bytes(),
    "类型".as_bytes(),
    "配置".as_bytes(),
    "原因".as_bytes(),
];

/// Segments before `lock` of settings, which the word is one of.
pub const SETTINGS: [&[u8]; 7] = [b"setting", b"settings", b"config", b"conf", b"pref", b"prefs", b"preferences"];

/// Segments that make one word with `lock` before them, whatever follows: settings of the screen that is shown while it is locked.
pub const COMPOUNDS: [&[u8]; 5] = [b"screen", b"screens", b"wallpaper", b"screensaver", "屏幕".as_bytes()];

/// Values that say that something is locked, and that it is not.
pub const YES: [&[u8]; 8] = [b"1", b"true", b"yes", b"on", b"y", b"locked", b"lock", b"closed"];
pub const NO: [&[u8]; 8] = [b"0", b"false", b"no", b"off", b"n", b"unlocked", b"unlock", b"open"];

/// Plain words that the holder of a lock leaves in place of a token.
pub const HELD: [&[u8]; 16] = [
    b"processing",
    b"running",
    b"executing",
    b"working",
    b"doing",
    b"pending",
    b"busy",
    b"held",
    b"acquired",
    b"ok",
    b"owner",
    b"holder",
    b"token",
    b"value",
    b"worker",
    b"main",
];
