"""Rules about names and sizes, written a second time from the words of the standards: one key and one rule after the other."""

import functools
import ipaddress
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import NamedTuple

KB, MB = 1024, 1024 * 1024
MUST, SHOULD, HINT = "must", "should", "hint"

# Types that the standards limit in their number of elements.
COLLECTIONS = ["hash", "list", "set", "zset"]

# Length of a dense HyperLogLog, which is no big string. Rows hold no values; no other string of the corpora has this length.
HYPERLOGLOG = 12304


class Key(NamedTuple):
    """A key as the server described it."""

    name: bytes
    type: str
    length: int
    # The key itself has an expiry.
    expires: bool
    # It has, or all its fields have one.
    ends: bool


Check = Callable[[Key], bool]

# Beginnings of IPv6 networks: public, private, and of one link.
NETWORK = re.compile(rb"200[1-3]|2[46a][0-9a-f]{2}|2[8c]0[0-9a-f]|f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]", re.IGNORECASE)
# Words that addresses follow.
ADDRESS_WORDS = (
    b"ip ips ip6 ipv6 addr address host client remote limit limiter ratelimit rate throttle blacklist whitelist blocklist allowlist "
    b"black white ban block"
).split()

# Parts of names.


@functools.cache
def segments(name: bytes) -> list[bytes]:
    """Returns the segments of a name, without the braces of the tag that a cluster would hash."""
    tag = re.match(rb"([^{]*)\{([^}]+)\}(.*)", name, re.DOTALL)
    if tag:
        name = b"".join(tag.groups())
    return name.split(b":")


@functools.cache
def characters(name: bytes) -> str:
    """Returns the characters of a name; every byte that is no text is a surrogate."""
    return name.decode("utf-8", "surrogateescape")


# Characters that Unicode lets fonts ignore, annotation marks, noncharacters, and the empty Braille pattern.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Quotation_Mark of Unicode, ornaments of them, and the backticks.
QUOTES = re.compile(
    "[\"'`\u00ab\u00bb\u2018-\u201f\u2039\u203a\u275b-\u2760\u2e42\u300c-\u300f\u301d-\u301f\ufe41-\ufe44\uff02\uff07\uff40\uff62\uff63"
    "\U0001f676-\U0001f678]"
)


@functools.cache
def is_special(character: str) -> bool:
    category = unicodedata.category(character)
    blank = category in ("Cc", "Cs", "Zs", "Zl", "Zp")
    # The wide colon looks like the separator; the replacement character stands for bytes that were no text.
    return blank or character in "\\\uff3c\ufe68\uff1a\ufffd" or bool(INVISIBLE.match(character) or QUOTES.match(character))


# The rules: each function returns whether a key breaks one.


# Ids and dates with letters: UUIDs, long numbers in hexadecimal, addresses of network cards, identity numbers, ULIDs, times. Random tokens
# are left to the program.
IDS = [
    re.compile(form)
    for form in (
        r"(?=.*\d)[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        r"(?=.*\d)[0-9a-fA-F]{24,}",
        r"[0-9a-fA-F]{2}(-[0-9a-fA-F]{2}){5}",
        r"\d{17}[Xx]",
        r"\d(?i:[0-9A-HJKMNP-TV-Z]{25})",
        r"(19|20)\d\d-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3])([0-5]\d){0,2}([.,]\d{1,9})?([Zz]|[+-](0\d|1[0-4])([0-5]\d)?)?",
    )
]


def prefix(key: Key) -> bool:
    parts = segments(key.name)
    first = characters(parts[0])
    named = any(c.isalpha() or (not c.isascii() and not c.isnumeric()) for c in first)
    return len(parts) < 2 or not named or any(form.fullmatch(first) for form in IDS)


def levels(least: int) -> Check:
    return lambda key: len(segments(key.name)) < least


def lowercase(key: Key) -> bool:
    text = characters(key.name)
    # Bytes of a name in GBK may read as letters of UTF-8.
    is_text = not any("\ud800" <= character <= "\udfff" for character in text)
    return any(character.isupper() and (is_text or character.isascii()) for character in text)


# What stands for an id that was never filled in, and what is cached behind `cache:` under the same word.
UNFILLED = (b"null", b"NULL", b"undefined", b"nil", b"NaN", b"None", b"(null)", b"<nil>", b"[object Object]")
# Placeholders of printf, Go and Python, and errors of Go; not characters of URLs (`%2d`).
FORMAT = re.compile(
    rb"%(?!\d[0-9a-fA-F]$)(\(.+\)|[+\-#.*$0-9]*[hlLjzt]{0,2})[vdiuxXofFegscpqTtr]|%![^(]?\(.*\)",
    re.DOTALL,
)
# Names of ids; in the last ones nothing marks the word.
ID_NAME = re.compile(
    rb"(?![0-9])(\w*_)?(?i:id)|(?![0-9])\w*[a-z0-9]I[dD]"
    rb"|[umptgcosr]id|[ug]uid|(user|open|union|order|room|device|tenant|member|product|goods|item|shop|account|session)id",
    re.ASCII,
)
CACHES = (b"cache", b"caches", b"cached", "缓存".encode(), b"huancun")


def unfilled(name: bytes) -> bool:
    parts = segments(name)
    for at, part in enumerate(parts):
        names_cached = at > 0 and at + 1 < len(parts) and parts[at - 1].lower() in CACHES
        if (part in UNFILLED and not names_cached) or FORMAT.fullmatch(part):
            return True
        if at > 0 and part[:1] + part[-1:] == b"{}" and ID_NAME.fullmatch(part[1:-1]):
            return True
    # Places of templates, which a cluster would take for a hash tag.
    tag = re.match(rb"([^{]*)\{([^}]+)\}(:|$)", name, re.DOTALL)
    if tag is None:
        return False
    before, word = tag[1], tag[2]
    if re.search(rb"(^|:)\$$", before) or (re.search(rb"(^|:)#$", before) and word[:1].isalpha()):
        return True
    return before.endswith(b":") and ID_NAME.fullmatch(word) is not None


def is_address(text: bytes, version: int) -> bool:
    try:
        return ipaddress.ip_address(text.decode("ascii", "replace")).version == version
    except ValueError:
        return False


def names_addresses(parts: list[bytes]) -> bool:
    return bool(parts) and re.split(rb"[_.-]", parts[-1])[-1].lower() in ADDRESS_WORDS


def has_network(parts: list[bytes], behind: list[bytes]) -> bool:
    """Returns whether an IPv6 address has its gap between the parts of a name and those behind it."""

    def groups(parts: Iterable[bytes]) -> list[bytes]:
        return list(itertools.takewhile(lambda part: re.fullmatch(rb"[0-9A-Fa-f]{1,4}", part), parts))

    near = groups(reversed(parts[-7:]))
    while near and not NETWORK.fullmatch(near[-1]):
        near.pop()
    left, right = near[::-1], groups(behind[:8])
    if not left or not 2 <= len(left) + len(right) <= 7:
        return False
    if not left[0].isdigit():
        return True
    return (
        len(left) > 1
        and len(left[1]) > 2
        and (
            any(len(group) > 2 and not group.isdigit() for group in left + right)
            or (len(left) > 2 and all(len(group) == 4 for group in left))
            or names_addresses(parts[: -len(left)])
        )
    )


def has_gap_of_address(name: bytes, empty: int) -> bool:
    """Returns whether the empty parts of a name are the gap of an IPv6 address."""
    gap = name.find(b"::")
    if gap < 0:
        return False
    colons = re.match(rb":*", name[gap:]).end()
    behind = name[gap + colons :]
    bracket = name.rfind(b"[", 0, gap)
    if bracket >= 0 and is_address(name[bracket + 1 :].partition(b"]")[0], 6) and b"]" in name[bracket:]:
        return (colons, empty) == (2, 1)
    parts, following = name[:gap].split(b":"), behind.split(b":")
    if colons == 2:
        return empty == (1 if behind else 2) and has_network(parts, following)
    host = following[1] if len(following) > 1 else b""
    begins = (following[0] == b"1" and names_addresses(parts)) or (following[0].lower() == b"ffff" and is_address(host, 4))
    return (colons, empty) == (3, 2) and (begins or has_network(parts, []))


def has_empty(key: Key, separators: bytes) -> bool:
    name = b":".join(segments(key.name))
    empty = re.split(b"[" + re.escape(separators) + b"]", name).count(b"")
    return empty > 0 and not has_gap_of_address(name, empty)


def empty_segment(key: Key) -> bool:
    return has_empty(key, b":")


def empty_id(key: Key) -> bool:
    return empty_segment(key) or unfilled(key.name)


def empty_word(key: Key) -> bool:
    return has_empty(key, b":.")


def starts_with_letter(tags: bool) -> Check:
    def check(key: Key) -> bool:
        name = b":".join(segments(key.name)) if tags else key.name
        return re.match(rb"[A-Za-z]", name) is None

    return check


def special_chars(key: Key) -> bool:
    return any(is_special(character) for character in characters(key.name))


def charset(allowed: str) -> Check:
    return lambda key: re.fullmatch(allowed, characters(key.name)) is None


def length(most: int) -> Check:
    def check(key: Key) -> bool:
        try:
            return len(key.name.decode()) > most
        except UnicodeDecodeError:
            return len(key.name) > most

    return check


SUFFIXES = {
    "string": ["string", "str", "bitmap", "hyperloglog", "hll"],
    "list": ["list"],
    "set": ["set"],
    "zset": ["zset", "sortedset", "sorted.set", "geo", "geospatial"],
    "hash": ["hash", "map"],
    "stream": ["stream"],
    "array": ["array"],
}


# Modules name their types themselves (`ReJSON-RL`, `TSDB-TYPE`).
MODULE_SUFFIXES = {
    *("module", "json", "rejson-rl", "vectorset", "vector", "vset", "bloom", "bf", "cuckoo", "cf", "cms", "topk", "tdigest"),
    *("timeseries", "ts"),
}


def type_suffix(key: Key) -> bool:
    words = SUFFIXES.get(key.type, MODULE_SUFFIXES)
    last = segments(key.name)[-1].decode("latin-1")
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), last) not in words


def hash_tag(key: Key) -> bool:
    braces = re.sub(rb"[^{}]", b"", key.name)
    return braces not in (b"", b"{}") or b"{}" in key.name


def big_string(most: int) -> Check:
    return lambda key: key.type == "string" and key.length > most and key.length != HYPERLOGLOG


def big_elements(most: int) -> Check:
    return lambda key: key.type in COLLECTIONS and key.length > most


def hash_fields(most: int) -> Check:
    return lambda key: key.type == "hash" and key.length > most


def expiring(key: Key) -> bool:
    return key.expires and big_elements(5000)(key)


def ttl_missing(key: Key) -> bool:
    return not key.ends


# Patterns look at 16 segments; the last one holds what is left.
LEVELS = 16
LOCK_TYPES = ("string", "hash")


def lock_missing(key: Key) -> bool:
    spellings = (b"lock", b"Lock", b"LOCK")
    parts = b":".join(segments(key.name)).split(b":", LEVELS - 1)
    is_lock = any(part in spellings for part in parts[:-1]) and not names_queue(parts)
    return not key.ends and key.type in LOCK_TYPES and is_lock


# Words of persistent data, which may be the last segment, too, and of caches.
PERSISTENT_WORDS = (
    *(b"counter", b"counters", b"count", b"config", b"configs", b"conf", b"setting", b"settings"),
    *(b"pv", b"uv", b"dau", b"wau", b"mau", b"visits", b"views", b"likes", b"stats", b"seq"),
    *(b"dict", b"param", b"params", b"switch", b"switches"),
    *(b"parameter", b"parameters", b"toggle", b"toggles", b"constant", b"constants", b"enum", b"enums", b"sequence", b"sequences"),
)
PERSISTENT = (
    *(spelt for word in PERSISTENT_WORDS for spelt in (word, word.upper(), word.capitalize())),
    *(b"feature_flag", b"feature_flags", b"featureFlag", b"featureFlags"),
    *(b"jishuqi", b"peizhi"),
    *(word.encode() for word in ("配置", "配置项", "浏览量", "访问量", "日活", "周活", "月活", "字典", "参数", "开关")),
    *(word.encode() for word in ("系统参数", "系统配置", "枚举", "常量", "序列")),
)
# Words that are so only one behind the other.
PERSISTENT_PAIRS = {
    *itertools.product((b"feature",), (b"flag", b"flags")),
    *itertools.product((b"sys", b"system", b"app"), (b"option", b"options", b"property", b"properties")),
}
# Those that another segment has to follow.
BEFORE_OTHERS = (
    *(b"sys_config", b"app_config", b"sysConfig", b"appConfig", b"sys_dict", b"sysDict"),
    *("计数器".encode(), "计数".encode()),
)
# Right before the word for a cache at the end, what makes the key a setting of the cache.
CONFIGURATION = (
    *b"config configs conf setting settings param params parameter parameters switch switches".split(),
    *(word.encode() for word in ("配置", "参数", "开关")),
)
# Words before that for a cache by which a segment says what is done to the cache.
CACHE_ACTIONS = (
    b"clear clean flush purge evict invalidate expire delete del remove drop reset rebuild refresh reload update sync load preload warm "
    b"warmup prewarm preheat init enable enabled disable disabled use no not non is has without skip ignore bypass switch hit miss max"
).split()
CACHE_ACTIONS_CHINESE = "清理|清除|清空|刷新|更新|删除|重建|预热|禁用|启用|开启|关闭|是否|命中".encode()
# Behind the word for a cache, what makes the key a setting of the cache, even if an id follows.
SWITCHES = (
    *b"ttl expire expires expiry timeout enable enabled disable disabled bypass switch".split(),
    *(word.encode() for word in ("开关", "过期", "过期时间")),
)
# What makes it one unless an id follows.
CONTROLS = (*SWITCHES, *b"size max capacity refresh reload".split(), *(word.encode() for word in ("大小", "容量")))
# What counts for each id.
CACHE_COUNTERS = (
    *(b"hit", b"hits", b"miss", b"misses", b"evict", b"evicted", b"eviction", b"evictions", b"hitrate", b"hitratio", b"hitcount"),
    *(b"missrate", b"misscount", *(word.encode() for word in ("命中", "未命中", "命中率", "命中数", "命中次数", "未命中次数"))),
)
# Parts of a cache, and what counts them.
CACHE_PARTS = (*b"key keys entry entries bytes memory request requests loads".split(), "请求".encode())
CACHE_COUNTS = (*b"count counter counters total num size".split(), *(word.encode() for word in ("计数", "数量", "总数")))
# What makes it a setting or a counter alone or beside such words, since it may also be cached.
CACHE_SETTINGS = (
    *(b"config", b"conf", b"setting", b"settings", b"version", b"stats", b"statistics", b"metrics", b"count", b"counter", b"counters"),
    *(b"limit", b"strategy", b"prefix", b"ratio", *(word.encode() for word in ("配置", "版本", "统计", "计数"))),
)
# What is as likely cached.
CACHED_MEASURES = (b"rate", b"total", b"policy", b"tokens")
# Caches that may have settings.
CACHE_SYSTEMS = b"redis redisson caffeine guava ehcache memcached jetcache j2cache hazelcast local remote l1 l2 default global".split()


def has_id(parts: list[bytes]) -> bool:
    return any(re.search(rb"\d", part) for part in parts)


def cache_words(part: bytes) -> list[bytes]:
    """Returns the words of a segment, divided by marks and capitals."""
    return [word.lower() for word in re.split(rb"[_.-]", re.sub(rb"([a-z])(?=[A-Z])", rb"\1_", part))]


# A version or number behind the word for a cache, and words that may be written in one with it.
VERSION = re.compile(rb"[_.\-]?[vV]?\d+$")
FUSED = (
    b"page html view user member goods product item order shop data db sql query result api http web local remote redis l1 l2 hot list "
    b"detail info object entity file image img token session search my"
).split()


def is_compound(part: bytes) -> bool:
    """Returns whether a segment ends with a word for a cache, behind what is cached or before a version: `goods_cache`, `cache_v2`."""
    bare = VERSION.sub(b"", part)
    if bare != part and bare.lower() in CACHES:
        return True
    fused = rb"|((?:.*[_.\-])?(?i:" + b"|".join(FUSED) + rb"))cache"
    ends = b"(.*)" + "缓存".encode() + rb"|(.*[_.\-\x80-\xff])cache|(.+)Cache|(.*[^A-Z])CACHE" + fused
    found = re.fullmatch(ends, bare, re.DOTALL)
    before = next((group for group in found.groups() if group is not None), b"") if found else b""
    is_about = any(word in CACHE_ACTIONS for word in cache_words(before)) or re.search(CACHE_ACTIONS_CHINESE, before)
    return re.search(rb"[A-Za-z\x80-\xff]", before) is not None and not is_about


def says(part: bytes, known: Iterable[bytes], others: Iterable[bytes] = ()) -> bool:
    """Returns whether a segment is a known word, or is made of words about caches with a known one among them."""
    words = cache_words(part)
    about = (*CONTROLS, *CACHE_COUNTERS, *CACHE_SETTINGS, *CACHES, *others)
    return part.lower() in known or (any(word in known for word in words) and all(word in about for word in words))


def is_counter(part: bytes) -> bool:
    return says(part, CACHE_COUNTERS, CACHED_MEASURES)


def is_measure(part: bytes) -> bool:
    return is_counter(part) or says(part, CONTROLS) or says(part, CACHE_SETTINGS)


def counts_cache(behind: list[bytes]) -> bool:
    """Returns whether what follows the word for a cache counts something of it, whatever follows further on."""
    if len(behind) > 1 and behind[0].lower() in CACHE_PARTS and behind[1].lower() in CACHE_COUNTS:
        return True
    measures = itertools.takewhile(lambda part: is_measure(part) or part.lower() in CACHED_MEASURES, behind)
    return any(is_counter(part) for part in measures)


def names_cache(parts: list[bytes]) -> bool:
    """Returns whether a segment names a cache, with something cached behind it rather than a setting of the cache."""
    return any(part.lower() in CACHES and not is_of_cache(parts[at + 1 :]) for at, part in enumerate(parts[:-1]))


def is_of_cache(behind: list[bytes]) -> bool:
    """Returns whether what follows the word for a cache is about the cache itself."""
    first = behind[0]
    sets = first.lower() in CACHE_SYSTEMS or any(word in (*CONTROLS, *CACHED_MEASURES) for word in cache_words(first))
    return is_measure(first) or first.lower() in CACHED_MEASURES or counts_cache(behind) or (sets and not has_id(behind))


def may_name_cache(parts: list[bytes]) -> bool:
    """Returns whether a name with a word for data that may live forever may as well be that of a cache: `sys:dict:sex:cache`."""
    for at, part in enumerate(parts):
        behind = parts[at + 1 :]
        of_some = is_compound(part) and not any(word in CACHE_SYSTEMS for word in cache_words(part))
        if behind and of_some and not is_of_cache(behind):
            return True
        before = parts[at - 1].lower() if at else b""
        if not behind and (of_some or (part.lower() in CACHES and before not in CONFIGURATION)):
            return True
    return False


def measures_cache(behind: list[bytes]) -> bool:
    """Returns whether what follows the word for a cache makes the key a setting or a counter of it."""
    first, *rest = behind
    if counts_cache(behind) or (says(first, CONTROLS) and not has_id(rest)):
        return True
    if first.lower() in SWITCHES and all(has_id([part]) or is_measure(part) for part in rest):
        return True
    return all(is_measure(part) for part in behind)


def class_of_kept(parts: list[bytes], at: int) -> str | None:
    """Returns the class of a name with a word for data that may live forever: a cache of it is one, unless it is about the first cache.

    A name that may be that of a cache without saying so has no class."""
    if not names_cache(parts[at + 1 :]):
        return None if may_name_cache(parts) else "persistent"
    first = next(place for place, part in enumerate(parts) if part.lower() in CACHES or is_compound(part))
    return "persistent" if measures_cache(parts[first + 1 :]) else "cache"


# Libraries for jobs: the name of a queue follows, whatever it means elsewhere.
JOB_LIBRARIES = (b"bull", b"bullmq", b"asynq", b"queues")
PURPOSES = b"session sessions mutex queue queues counter counters rate tmp temp".split()
PURPOSES += [word.encode() for word in ("会话", "锁", "队列", "计数")]


def names_queue(parts: list[bytes]) -> bool:
    """Returns whether a name is that of a library for jobs, with the name of a queue that is a word for a purpose."""
    lower = [part.lower() for part in parts]
    at = 1 if lower[0] in JOB_LIBRARIES else 2 if lower[:2] in ([b"resque", b"queue"], [b"rq", b"queue"]) else len(lower)
    words = (b"lock", b"cache", "缓存".encode())
    return any(part in PURPOSES or any(word in part for word in words) for part in lower[at : at + 1])


def platform_class(key: Key) -> str | None:
    """Returns the class of a key under platform: that of its leftmost word, but for locks, caches of persistent data, settings of caches."""
    parts = b":".join(segments(key.name)).split(b":", LEVELS - 1)
    if names_queue(parts):
        return None
    if key.type in LOCK_TYPES and b"lock" in parts[:-1]:
        return "lock"
    for at, part in enumerate(parts):
        if part in PERSISTENT or tuple(parts[at : at + 2]) in PERSISTENT_PAIRS:
            return class_of_kept(parts, at)
        if part in BEFORE_OTHERS and at + 1 < len(parts):
            return class_of_kept(parts, at)
        if (part in CACHES or is_compound(part)) and at + 1 < len(parts):
            return "persistent" if measures_cache(parts[at + 1 :]) else "cache"
        if part == b"lock" and at + 1 < len(parts):
            # The class of locks takes only some types; it is still the first word that decides.
            return "lock" if key.type in LOCK_TYPES else None
    return None


def is_queue(key: Key) -> bool:
    """Returns whether a key named like a cache is a queue, by its type and a word behind the one for a cache."""
    names = rb"(.*[_.\-a-z])?[Qq]ueues?|.*[_.\-]mq|mq|.*" + "队列".encode()
    if key.type == "stream":
        names += rb"|(.*[_.\-])?(streams?|events?|log|messages)"
    parts = iter(key.name.split(b":"))
    behind = itertools.dropwhile(lambda part: part.lower() not in CACHES and not is_compound(part), parts)
    queues = any(re.fullmatch(names, part.strip(b"{}"), re.DOTALL | re.IGNORECASE) for part in itertools.islice(behind, 1, None))
    return key.type in ("list", "zset", "stream") and queues


def classed_missing(key: Key) -> bool:
    # Locks are those of ttl.lock-missing. Rows hold no values, by which Bloom filters and maps of Redisson are known.
    return not key.ends and platform_class(key) == "cache" and not is_queue(key)


def unclassed_missing(key: Key) -> bool:
    is_of_none = platform_class(key) is None or platform_class(key) == "cache" and is_queue(key)
    return not key.ends and is_of_none


RANKINGS = (
    *("leaderboard", "leaderboards", "ranking", "rankings", "paihangbang"),
    *("排行榜", "积分排行榜", "积分排名", "排行", "排名"),
)
QUEUES = ("queue", "queues", "队列", "消息队列", "duilie")
COUNTERS = ("counter", "counters", "计数器", "jishuqi")
RECENT = ("最近访问", "最近访问记录")
DELAYED = ("延时队列", "延迟队列")
# Right before `queue`, words for those who wait in person.
PEOPLE = {
    *itertools.product(
        (
            b"hospital his clinic outpatient menzhen guahao jiuzhen registration triage patient doctor vaccine restaurant canteen dining "
            b"paidui taxi driver passenger mic"
        ).split(),
        (b"queue",),
    ),
    *itertools.product((word.encode() for word in ("门诊", "挂号", "就诊", "排队")), ("队列".encode(),)),
}
# 类型对照表 of service. Words that count at any level, and words that only begin a name; None allows every type.
TYPES_ANYWHERE = {
    b"cache": None,
    b"caches": None,
    b"cached": None,
    "缓存".encode(): None,
    b"session": None,
    **{word.encode(): None for word in ("会话", "tmp", "temporary", "临时", "临时数据")},
    **{word.encode(): ("list", "stream", "zset") for word in QUEUES},
    b"lock": ("string", "hash"),
    "分布式锁".encode(): ("string", "hash"),
    **{word.encode(): ("string", "hash", "zset") for word in (*COUNTERS, "限流")},
    **{word.encode(): ("list", "zset") for word in RECENT},
    **{word.encode(): ("zset",) for word in DELAYED},
    **{word.encode(): ("zset",) for word in RANKINGS},
}
TYPES_FIRST = {
    b"horizon": None,
    b"laravel_horizon": None,
    b"temp": None,
    b"rate": ("string", "hash", "zset"),
    b"rates": ("string", "hash", "zset"),
    b"recent": ("list", "zset"),
    b"delayed": ("zset",),
    b"redisson_lock_queue": ("list",),
    b"redisson_lock_timeout": ("zset",),
}


# What makes a key something else, anywhere behind the word, in whatever case and with a number or a dot behind it.
SIDE_DATA = (
    "size length len count total limit config rule rules lock status state stats meta info seq version "
    "time updated_at offset lastid cursor paused cache caches cached 缓存 "
    "配置 状态 数量 总数 统计 规则 版本 "
).split()
OF_QUEUES = (
    "consumer consumers worker workers job jobs result results dedup processing inflight ticket tickets "
    "number current position rank depth patient patients doctor dept department hall window table seat area airport geofence driver "
    "passenger vip 科室 医生 诊室 窗口 叫号 "
).split()
OF_LOCKS = (
    "waiter waiters waiting wait queue timeout holder holders event events log history list count config status screen "
).split()
OF_RANKINGS = (
    "prize prizes reward rewards award season snapshot name names my top rank "
).split()
OF_COUNTERS = (
    "window windows cashier desk clerk teller staff open cache caches cached 缓存 柜台 窗口 "
).split()
OF_RECENT = (
    "login logins signin active seen time at ip version count config status cache cached 缓存 "
).split()
OF_DELAYED = (
    "flight flights train trains bus shipment shipments parcel waybill delivery count config status lock "
    "cache cached 缓存 航班 "
).split()
EXCEPT = {
    **{word.encode(): [*SIDE_DATA, *OF_QUEUES] for word in QUEUES},
    **{word.encode(): OF_COUNTERS for word in COUNTERS},
    **{word.encode(): OF_LOCKS for word in ("lock", "分布式锁")},
    **{word.encode(): OF_RECENT for word in RECENT},
    **{word.encode(): OF_DELAYED for word in DELAYED},
    **{word.encode(): [*SIDE_DATA, *OF_RANKINGS] for word in RANKINGS},
    b"recent": OF_RECENT,
    b"delayed": OF_DELAYED,
}


def is_excepted(word: bytes, behind: list[bytes]) -> bool:
    def is_one(part: bytes) -> bool:
        stem = part.split(b".")[0].rstrip(b"0123456789")
        return any(known.encode() in (part.lower(), stem.lower()) for known in EXCEPT.get(word, []))

    return any(is_one(part) for part in behind)


def is_date(part: bytes) -> bool:
    return re.fullmatch(rb"(19|20)\d\d-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])", part) is not None


def unexpected_type(key: Key) -> bool:
    """Returns whether the type is none of those of the leftmost word that has any."""
    all_parts = segments(key.name)
    parts = b":".join(all_parts).split(b":", LEVELS - 1)
    for at, part in enumerate(parts[:-1]):
        table = {**TYPES_ANYWHERE, **TYPES_FIRST} if at == 0 else TYPES_ANYWHERE
        if tuple(parts[at : at + 2]) in PEOPLE and at + 2 < len(parts):
            return False
        if part in table:
            types = table[part]
            return types is not None and key.type not in types and not is_excepted(part, all_parts[at + 1 :])
        if part in (b"signin", b"qiandao", "签到".encode()) and at + 2 == len(parts) and is_date(parts[at + 1]):
            return key.type != "string"
    return False


# Presets: rule, then severities with their checks, the gravest limit first; a key counts under the first that it breaks.

COMMON = {
    "key.empty-segment": [(MUST, empty_segment)],
    "key.prefix": [(MUST, prefix)],
    "key.special-chars": [(MUST, special_chars)],
    "big.elements": [(MUST, big_elements(5000))],
    "big.string": [(MUST, big_string(10 * KB))],
}
EVERYWHERE = {**COMMON, "big.expiring": [(SHOULD, expiring)]}
PRESETS = {
    "service": {
        **EVERYWHERE,
        "key.empty-segment": [(MUST, empty_id)],
        "key.levels": [(SHOULD, levels(3))],
        "key.lowercase": [(MUST, lowercase)],
        "key.starts-with-letter": [(MUST, starts_with_letter(True))],
        "key.charset": [(MUST, charset(r"[a-z0-9:_.{}-]*"))],
        "key.length": [(SHOULD, length(128))],
        "key.hash-tag": [(HINT, hash_tag)],
        "ttl.lock-missing": [(MUST, lock_missing)],
        "big.string": [(MUST, big_string(MB)), (SHOULD, big_string(10 * KB))],
        "type.expected": [(SHOULD, unexpected_type)],
    },
    "hzero": {
        **EVERYWHERE,
        "key.levels": [(MUST, levels(2)), (HINT, levels(3))],
        "key.length": [(HINT, length(128))],
        "key.hash-tag": [(HINT, hash_tag)],
        "big.expiring": [(MUST, expiring)],
    },
    "platform": {
        **EVERYWHERE,
        "key.empty-segment": [(MUST, empty_id)],
        "key.levels": [(SHOULD, levels(4))],
        "key.length": [(HINT, length(128))],
        "key.hash-tag": [(MUST, hash_tag)],
        "ttl.lock-missing": [(MUST, lock_missing)],
        "ttl.missing": [(MUST, classed_missing), (SHOULD, unclassed_missing)],
    },
    "strict": {
        **EVERYWHERE,
        "key.empty-segment": [(MUST, empty_word)],
        "key.levels": [(MUST, levels(4))],
        "key.lowercase": [(MUST, lowercase)],
        "key.starts-with-letter": [(MUST, starts_with_letter(False))],
        "key.charset": [(MUST, charset(r"[a-z0-9.:]*"))],
        "key.length": [(SHOULD, length(128))],
        "key.type-suffix": [(MUST, type_suffix)],
        "big.hash-fields": [(SHOULD, hash_fields(100))],
        "big.collection-hard": [(SHOULD, big_elements(10000))],
    },
    "aliyun": {
        **COMMON,
        "key.prefix": [(HINT, prefix)],
        "key.levels": [(HINT, levels(2))],
        "key.charset": [(MUST, charset(r"[A-Za-z0-9_(){}\[\]:]*"))],
        "key.length": [(HINT, length(128))],
        "key.hash-tag": [(HINT, hash_tag)],
    },
    "default": {**EVERYWHERE, "key.length": [(SHOULD, length(128))]},
}
# Presets by which every key has to expire, whatever the severity. Elsewhere classes decide, which a truth table does not know.
ALL_MUST_EXPIRE = ["service", "hzero", "strict", "aliyun"]


def count(keys: list[Key], preset: str) -> dict[tuple[str, str], int]:
    """Counts the keys that break each rule of a preset, by rule and severity."""
    rules = PRESETS[preset]
    counts = {(rule, severity): 0 for rule, limits in rules.items() for severity, _ in limits}
    for key in keys:
        for rule, limits in rules.items():
            broken = next((severity for severity, breaks in limits if breaks(key)), None)
            if broken:
                counts[rule, broken] += 1
    return counts
