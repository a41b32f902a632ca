//! Words beside `lock` that say what is locked: by them, and by the value, keys are told from locks that only look like them.

/// Segments beside `lock` whose state it may be: accounts that are locked out, things that have a lock, and what players have yet to
/// earn.
pub const LOCKABLE: [&[u8]; 32] = [
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
    b"mic",
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

/// Segments before `lock` of what people reserve, sign or close: a flag, a state or the id of who has it is no token.
pub const BOOKABLE: [&[u8]; 56] = [
    b"mic",
    b"seat",
    b"bed",
    b"berth",
    b"venue",
    b"ward",
    b"stall",
    b"cabin",
    b"booth",
    b"slot",
    b"number",
    b"house",
    b"room",
    b"hotel",
    b"contract",
    b"menu",
    b"account",
    b"card",
    b"door",
    b"screen",
    b"chapter",
    b"seal",
    b"cabinet",
    b"box",
    b"parking",
    "号源".as_bytes(),
    "房".as_bytes(),
    "房源".as_bytes(),
    "房间".as_bytes(),
    "座位".as_bytes(),
    "席位".as_bytes(),
    "床位".as_bytes(),
    "泊位".as_bytes(),
    "包厢".as_bytes(),
    "包间".as_bytes(),
    "车位".as_bytes(),
    "场地".as_bytes(),
    "餐桌".as_bytes(),
    "工位".as_bytes(),
    "展位".as_bytes(),
    "合同".as_bytes(),
    b"classroom",
    "铺位".as_bytes(),
    "卧铺".as_bytes(),
    "舱位".as_bytes(),
    "摊位".as_bytes(),
    "病床".as_bytes(),
    "病房".as_bytes(),
    "客房".as_bytes(),
    "包房".as_bytes(),
    "会议室".as_bytes(),
    "教室".as_bytes(),
    "柜子".as_bytes(),
    "储物柜".as_bytes(),
    "停车位".as_bytes(),
    "桌位".as_bytes(),
];

/// Segments before `lock` of other places that people reserve. The words have other meanings (`db:table:lock:orders`), so a value is
/// taken for the person who reserved the place only if the place has a number (`table:lock:7`).
pub const PLACES: [&[u8]; 13] = [
    b"table",
    b"desk",
    b"court",
    b"spot",
    b"lane",
    b"pitch",
    b"bay",
    b"locker",
    b"carriage",
    b"appointment",
    "车厢".as_bytes(),
    "挂号".as_bytes(),
    "球场".as_bytes(),
];

/// States of what can be booked.
pub const STATES: [&[u8]; 35] = [
    b"signed",
    b"sealed",
    b"archived",
    b"effective",
    b"sold",
    b"paid",
    b"rented",
    b"booked",
    b"reserved",
    b"occupied",
    b"available",
    b"free",
    b"full",
    b"frozen",
    b"banned",
    b"disabled",
    b"enabled",
    b"muted",
    b"paused",
    b"suspended",
    b"lost",
    b"expired",
    b"maintenance",
    "已签".as_bytes(),
    "已售".as_bytes(),
    "已租".as_bytes(),
    "已预订".as_bytes(),
    "已预定".as_bytes(),
    "占用".as_bytes(),
    "占用中".as_bytes(),
    "已占用".as_bytes(),
    "使用中".as_bytes(),
    "空闲".as_bytes(),
    "维修中".as_bytes(),
    "已入住".as_bytes(),
];

/// Segments before `lock` that are also words for what is traded or kept in databases, so that a flag behind them may be any lock.
pub const TRADED: [&[u8]; 1] = [b"spot"];

/// Segments before `lock` and an id of what is guarded against too many attempts, after which somebody is locked out.
pub const GUARDED: &str = "mfa 2fa totp passcode attempts cooldown penalty lockout ban banned bruteforce brute-force brute_force \
    ratelimit rate-limit rate_limit ratelimiter throttle 限流 封禁 风控";

/// Words between `lock` and the address of whoever is locked out: `fcb:lock:hit:10.0.0.3`.
pub const LOCKED_OUT: &str =
    "ip ips hit hits fail fails failed failure attempt attempts login signin ban banned block blocked";

/// Segments of money that is locked in an account, before `lock`: without an expiry, any number there is an amount.
pub const FUNDS: &str = "wallet wallets staking stake escrow deposit deposits margin collateral pledge vesting savings \
    balance balances fund funds budget budgets shares gold coin coins asset assets 钱包 质押 保证金 押金 存款 资金 余额";

/// Segments behind `lock` and an id of attributes of a lock that is a thing: `lock:7:battery`.
pub const ATTRIBUTES: &str = "battery rssi signal voltage temperature online offline firmware hardware mac imei iccid sn serial bluetooth ble model brand vendor \
    name alias nickname pin passcode pwd passwd password code keypad fingerprint fingerprints card cards bind bound binding gateway alarm angle position gps \
    location 电量 信号 在线 固件 型号 名称 别名 密码 指纹 绑定";

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

/// Segments after `lock`, before nothing but ids or behind nothing but ids, that make it a property of something.
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

/// Segments before `lock` of people and parties, who may be blocked. With an expiry, a flag behind them may as well be
/// the lock of a request.
pub const PARTIES: &str = "driver doctor nurse patient student pupil teacher tutor coach employee staff rider courier agent anchor \
    streamer merchant seller vendor supplier buyer client operator passenger guest visitor vip tenant company enterprise \
    organization org dept department dealer broker landlord partner subscriber applicant candidate clerk cashier teller trader \
    investor borrower lawyer author artist person people family 用户 会员 客户 管理员 玩家 司机 医生 护士 患者 病人 学生 学员 老师 教师 教练 \
    员工 职员 骑手 快递员 配送员 代理 代理商 主播 商户 商家 卖家 买家 供应商 操作员 乘客 访客 租户 企业 公司 部门 机构 账户 帐户 帐号";

/// Segments before `lock` of further things with a lock, or with a state that is as good as one.
pub const DEVICES: &str = "ebike escooter bicycle motorcycle moped truck valve meter pump faucet barrier shutter garage elevator lift \
    charger drone robot phone tablet laptop sim doorlock smartlock 门 门禁 单车 电动车 车 车辆 车锁 智能锁 阀门 水表 电表 燃气表 柜门 快递柜 储物柜 设备 \
    充电桩";

/// Segments before `lock` of what is closed once it is settled: periods and their books, and results.
pub const CLOSED: &str = "payroll salary wage period ledger grade transcript attendance timesheet semester 工资 薪资 薪酬 账期 期间 \
    会计期间 账套 账簿 成绩 考勤 学期";

/// Segments of games, and segments before `lock` of what players keep or have yet to earn there.
pub const GAMES: &str = "game rpg mmo mmorpg slg moba 游戏";
pub const GAME_THINGS: &str = "item equip equipment gear weapon armor armour pet skin skill chest rune gem avatar costume badge talent 道具 装备 \
    武器 宠物 皮肤 技能 宝箱 关卡";

/// Segments behind `lock` of measures that are kept beside locks: a fencing token may never expire.
pub const MEASURES: &str = "fencing fence fencing_token fencing-token fencingToken version ver ttl timeout expire expires expiry expiration deadline until duration interval time at \
    timestamp switch enable enabled enabling count counter counters cnt num total retry retries attempt attempts fail fails failed failure \
    latch countdownlatch count_down_latch count-down-latch failures limit threshold rate ratio status state states stats stat metrics epoch seq sequence revision generation waiters waiting \
    版本 版本号 过期时间 超时 超时时间 开关 次数 重试 重试次数 计数 总数 上限 阈值 状态 统计";

/// Segments behind `lock` of settings, which may also be what a lock is about: `lock:config:refresh`.
pub const KEPT: &str =
    "config configs conf setting settings option options policy strategy mode param params 配置 参数 策略 模式";

/// Words of segments behind `lock` that name work, which a lock may be about.
pub const WORK: &str = "refresh sync update upgrade reload init load save rebuild create delete remove publish push pull calc calculate \
    settle check import export modify change write generate submit handle send notify execute run reset clean clear build merge \
    migrate 刷新 更新 同步 初始化 加载 重建 创建 删除 发布 推送 计算 结算 导入 导出 修改 变更 生成 提交 发送 执行 重置 清理";

/// Segments behind `lock` as the first one, below which failed attempts to log in are counted.
pub const LOGINS: &str =
    "login signin logon password pwd passwd captcha sms otp account acct fail 登录 密码 验证码 账号";
