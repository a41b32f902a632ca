//! Words by which locks, and keys that only look like locks, are recognised.

/// Segments that name distributed locks, each with its other [spellings](crate::policy::spelling).
pub const NAMES: &[&str] = &[
    "lock",
    "locks",
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

/// Names of locks that mean nothing else even as the last segment.
pub const SURE_NAMES: [&[u8]; 12] = [
    b"redlock",
    b"distlock",
    b"dist_lock",
    b"dist-lock",
    b"redislock",
    b"redis_lock",
    b"redis-lock",
    b"distributedlock",
    b"distributed_lock",
    b"distributed-lock",
    b"redissonlock",
    "分布式锁".as_bytes(),
];

/// Names of locks that are also words for things which exclude each other (`course:mutex:cs101`), and for the lock of a door.
pub const EXCLUSIONS: [&[u8]; 2] = [b"mutex", b"dlock"];

/// Parts of field names that name the holder of a lock.
pub const HOLDERS: [&[u8]; 13] = [
    b"owner",
    b"holder",
    b"token",
    b"client",
    b"thread",
    b"host",
    b"pid",
    b"uuid",
    b"request",
    b"instance",
    b"value",
    b"lockedby",
    b"locked_by",
];

/// Parts of field names that say more about a lock.
pub const DETAILS: [&[u8]; 9] =
    [b"count", b"reentr", b"mode", b"expire", b"ttl", b"time", b"lock", b"acquired", b"lease"];

/// Words in the names of a lock's fields, besides [HOLDERS] and [DETAILS].
pub const FIELD_WORDS: [&[u8]; 26] = [
    b"hostname",
    b"threadname",
    b"lockname",
    b"instancename",
    b"locked",
    b"locking",
    b"reentrant",
    b"reentrance",
    b"reentrancy",
    b"reentry",
    b"expires",
    b"expired",
    b"expiry",
    b"expiration",
    b"times",
    b"timeout",
    b"timestamp",
    b"acquire",
    b"hold",
    b"held",
    b"holds",
    b"renew",
    b"renewed",
    b"fence",
    b"fencing",
    b"until",
];

/// Words that are part of such names only beside another word: `created_by` says nothing, `locked_by` does.
pub const FIELD_ADDITIONS: [&[u8]; 25] = [
    b"id",
    b"at",
    b"by",
    b"ip",
    b"ms",
    b"millis",
    b"sec",
    b"seconds",
    b"num",
    b"max",
    b"key",
    b"resource",
    b"start",
    b"started",
    b"begin",
    b"end",
    b"create",
    b"created",
    b"update",
    b"updated",
    b"refresh",
    b"refreshed",
    b"process",
    b"node",
    b"worker",
];

/// Letters before the number of a person, as in `u8812`. Those of hosts and workers are none of them.
pub const PERSONS: [&[u8]; 13] =
    [b"u", b"p", b"m", b"c", b"d", b"uid", b"pid", b"mid", b"user", b"member", b"patient", b"customer", b"driver"];

/// Values that say that something is locked, and that it is not.
pub const YES: [&[u8]; 21] = [
    b"1",
    b"true",
    b"yes",
    b"on",
    b"y",
    b"locked",
    b"lock",
    b"closed",
    b"close",
    "是".as_bytes(),
    "锁定".as_bytes(),
    "已锁定".as_bytes(),
    "已锁".as_bytes(),
    "未解锁".as_bytes(),
    "锁".as_bytes(),
    "锁住".as_bytes(),
    "已锁住".as_bytes(),
    "加锁".as_bytes(),
    "已加锁".as_bytes(),
    "上锁".as_bytes(),
    "已上锁".as_bytes(),
];
pub const NO: [&[u8]; 13] = [
    b"0",
    b"false",
    b"no",
    b"off",
    b"n",
    b"unlocked",
    b"unlock",
    b"open",
    b"opened",
    "否".as_bytes(),
    "未锁定".as_bytes(),
    "未锁".as_bytes(),
    "已解锁".as_bytes(),
];

/// States in which something is shut or switched on. They stay until somebody opens it or switches it off, so no holder leaves them.
pub const SHUT: [&[u8]; 3] = [b"closed", b"close", b"on"];

/// Words that a holder may leave, but that are also states of what can be locked or blocked.
pub const BUSY: [&[u8]; 7] =
    [b"ok", b"busy", b"running", b"working", "占用".as_bytes(), "占用中".as_bytes(), "运行中".as_bytes()];

/// Plain words that the holder of a lock leaves in place of a token.
pub const HELD: [&[u8]; 33] = [
    b"processing",
    b"running",
    b"executing",
    b"working",
    b"doing",
    b"pending",
    b"busy",
    b"ok",
    b"token",
    b"value",
    b"main",
    b"leader",
    b"syncing",
    b"loading",
    b"settling",
    b"importing",
    b"exporting",
    b"deploying",
    "结算中".as_bytes(),
    "同步中".as_bytes(),
    "锁定中".as_bytes(),
    "导入中".as_bytes(),
    "导出中".as_bytes(),
    "处理中".as_bytes(),
    "正在处理".as_bytes(),
    "执行中".as_bytes(),
    "正在执行".as_bytes(),
    "进行中".as_bytes(),
    "运行中".as_bytes(),
    "占用".as_bytes(),
    "占用中".as_bytes(),
    "持有".as_bytes(),
    "已持有".as_bytes(),
];

/// Words of names of holders, and those that say only that a lock is held, in a value of several words, too: `order-service`, `LOCK_HELD`.
pub const HOLDING: [&[u8]; 31] = [
    b"owner",
    b"holder",
    b"held",
    b"acquired",
    b"lock",
    b"locked",
    b"locking",
    b"mutex",
    b"service",
    b"svc",
    b"server",
    b"srv",
    b"worker",
    b"scheduler",
    b"executor",
    b"processor",
    b"consumer",
    b"producer",
    b"thread",
    b"node",
    b"localhost",
    b"pod",
    b"daemon",
    b"cron",
    b"runner",
    b"listener",
    b"handler",
    b"job",
    b"task",
    b"vm",
    b"ip",
];

/// Last words of names of holders that have several words: `order-api`.
pub const PROGRAMS: [&[u8]; 13] = [
    b"app",
    b"api",
    b"client",
    b"host",
    b"gateway",
    b"center",
    b"web",
    b"agent",
    b"manager",
    b"instance",
    b"batch",
    b"sync",
    b"master",
];

/// Ends of the words of names of holders in Chinese: `订单服务`, `实例-甲`.
pub const CHINESE_PROGRAMS: [&str; 6] = ["服务", "线程", "任务", "节点", "进程", "实例"];
