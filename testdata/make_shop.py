#!/usr/bin/env python3
"""Creates dumps/shop.rdb: the snapshot of an invented online shop, written by a real redis-server.

    python3 testdata/make_shop.py [--seed 7] [-o testdata/dumps/shop.rdb]
    python3 testdata/make_shop.py --later -o testdata/dumps/shop-later.rdb

The same seed gives the same keys and values; times and dates in names are relative to the moment of the run, so that time
left and idle times make sense beside the snapshot's own ctime. The shop is well meant and has sinned in the usual ways: big
keys, caches and locks without an expiry, a night's cache warm-up that expires in one second, names of every bad kind, keys
that expired and were not yet reclaimed. Everybody in it is made up.

With --later it starts from dumps/shop.rdb instead and lets the shop live on: what expired meanwhile is gone, a campaign has
brought coupons, the mail queue has grown, a team has given its sets an expiry. For what compares two snapshots.
"""

import argparse
import datetime
import json
import os
import random
import shutil
import sys
import time

sys.dont_write_bytecode = True  # a run leaves nothing beside the fixtures

from server import Server  # noqa: E402

MINUTE, HOUR, DAY = 60, 3600, 86400

FIRST = "Ada Ben Chloe Dmitri Elif Farid Grace Hana Igor Jun Kofi Lena Mateo Nadia Omar Priya Quentin Rosa Sven Tariq".split()
LAST = "Abara Berg Costa Dias Eriksen Fontaine Gupta Haas Ito Jansen Kowalski Lima Moreau Nowak Okafor Petrov Rossi Silva".split()
CITIES = {
    "berlin": (13.405, 52.52), "lisbon": (-9.139, 38.722), "oslo": (10.752, 59.914), "vienna": (16.373, 48.208),
    "madrid": (-3.704, 40.417), "warsaw": (21.012, 52.23), "athens": (23.728, 37.984), "dublin": (-6.26, 53.35),
}  # fmt: skip
TAGS = "sale new eco outdoor kids garden office gift summer winter wool cotton steel oak vegan bestseller clearance".split()
NOUNS = "lamp chair kettle backpack tent scarf desk bottle blanket bicycle mug jacket carpet clock knife boots".split()
WORDS = (
    "the a light strong made for every day with care from our workshop soft warm lasting natural finish fits any room easy to "
    "clean two year warranty ships within days colour may differ hand picked material designed and tested quality you can feel"
).split()
LOCALES = ["en", "de", "fr", "es", "pl"]


class Shop:
    """Collects commands, expiries and idle times, then plays them to the server in a fixed order."""

    def __init__(self, client, seed):
        self.client = client
        self.random = random.Random(seed)
        self.now = int(client.call("TIME")[0])
        self.today = datetime.datetime.fromtimestamp(self.now, datetime.timezone.utc).date()
        self.commands = []
        self.expiries = []
        self.idle = []

    # Helpers for the parts of the business below.

    def do(self, *words):
        self.commands.append(words)

    def expire(self, key, seconds, at=None):
        """Sets an expiry of `key`, in seconds from now at a random millisecond, or exactly `at`."""
        self.expiries.append((key, at if at is not None else int((self.now + seconds) * 1000) + self.random.randrange(1000)))

    def unused(self, key, seconds):
        """Sets the idle time of `key` in seconds."""
        self.idle.append((key, max(1, int(seconds))))

    def day(self, ago):
        return (self.today - datetime.timedelta(days=ago)).isoformat()

    def hex(self, digits):
        return "".join(self.random.choice("0123456789abcdef") for _ in range(digits))

    def uuid(self):
        h = self.hex(32)
        return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"

    def zipf(self, most, skew=1.2):
        """Returns a number up to `most`; small ones are frequent."""
        return min(most, max(1, int(self.random.paretovariate(skew))))

    def user(self):
        """Returns a user id; a few users are far more active than the rest."""
        return 1000 + min(int(self.random.expovariate(1 / 160)), 899)

    def text(self, words):
        return " ".join(self.random.choice(WORDS) for _ in range(words))

    def product(self, number):
        rng = self.random
        return {
            "id": number,
            "sku": f"{rng.choice('ABCDEF')}{number:06d}",
            "title": f"{rng.choice(TAGS)} {rng.choice(NOUNS)} {rng.choice(LAST)}",
            "price": {"amount": rng.randrange(490, 48900), "currency": "EUR"},
            "stock": rng.randrange(0, 400),
            "description": self.text(rng.randrange(10, 40)),
            "images": [f"https://cdn.shop.example/p/{number}/{self.hex(12)}.webp" for _ in range(rng.randrange(1, 4))],
        }

    def play(self):
        """Runs all commands. Keys with an idle time are dumped and restored: only RESTORE can set it."""
        self.client.pipeline(self.commands)
        times = dict(self.expiries)
        idle = {key: seconds for key, seconds in self.idle}
        self.client.pipeline(("PEXPIREAT", key, at) for key, at in self.expiries)
        keys = sorted(idle, key=lambda key: key.encode() if isinstance(key, str) else key)
        dumps = self.client.pipeline(("DUMP", key) for key in keys)
        self.client.pipeline(
            ("RESTORE", key, times.get(key, 0), dump, "REPLACE", "ABSTTL", "IDLETIME", idle[key])
            for key, dump in zip(keys, dumps)
            if dump is not None
        )


def users(shop):
    rng = shop.random
    for number in range(1000, 1620):
        key = f"user:{number}:profile"
        first, last = rng.choice(FIRST), rng.choice(LAST)
        fields = {
            "name": f"{first} {last}",
            "email": f"{first}.{last}.{number}@mail.example".lower(),
            "locale": rng.choice(LOCALES),
            "created": shop.now - rng.randrange(DAY, 1200 * DAY),
            "newsletter": rng.randrange(2),
            "points": rng.randrange(0, 5000),
        }
        if rng.random() < 0.3:
            fields["note"] = shop.text(rng.randrange(12, 30))
        shop.do("HSET", key, *(part for pair in fields.items() for part in pair))
        shop.unused(key, rng.expovariate(1 / (12 * DAY)) if rng.random() < 0.7 else rng.uniform(40 * DAY, 170 * DAY))
    # Objects spread over string keys, from an older release.
    for number in rng.sample(range(1000, 1620), 130):
        for leaf, value in (("name", rng.choice(FIRST)), ("age", rng.randrange(18, 80)), ("city", rng.choice(list(CITIES)))):
            key = f"member:{number}:{leaf}"
            shop.do("SET", key, value)
            shop.unused(key, rng.uniform(90 * DAY, 178 * DAY))


def sessions(shop):
    rng = shop.random
    for _ in range(520):
        key = f"session:{shop.hex(32)}"
        shop.do("HSET", key, "uid", shop.user(), "ip", f"203.0.113.{rng.randrange(256)}", "csrf", shop.hex(40), "ua", "Mozilla/5.0 (X11; Linux x86_64) Firefox/131.0")
        left = rng.uniform(HOUR, 7 * DAY)
        shop.expire(key, left)
        shop.unused(key, min(7 * DAY - left + 1, rng.expovariate(1 / (8 * HOUR))))
    # Reset codes that had expired but were not yet reclaimed at the time of the snapshot.
    shop.ended = [f"otp:{shop.user()}:{shop.uuid()}" for _ in range(45)]
    for key in shop.ended:
        shop.do("SET", key, rng.randrange(100000, 999999))
    for _ in range(60):
        key = f"refresh:{shop.uuid()}"
        shop.do("SET", key, json.dumps({"uid": shop.user(), "scope": "shop:read shop:order", "jti": shop.hex(24)}))
        shop.expire(key, rng.uniform(20 * DAY, 400 * DAY))


def carts(shop):
    rng = shop.random
    for number in rng.sample(range(1000, 1620), 240):
        key = f"cart:{{u{number}}}:items"
        for _ in range(shop.zipf(40, 1.0)):
            shop.do("HSET", key, f"p:{rng.randrange(1, 460)}", rng.randrange(1, 5))
        shop.expire(key, rng.uniform(DAY, 30 * DAY))
        shop.unused(key, rng.expovariate(1 / (2 * DAY)))
        if rng.random() < 0.4:
            shop.do("SET", f"cart:{{u{number}}}:coupon", f"SAVE{rng.randrange(5, 30)}", "EX", 5 * DAY)
    for number in rng.sample(range(1000, 1620), 90):
        shop.do("SADD", f"wishlist:{number}", *rng.sample(range(1, 460), shop.zipf(60, 0.9)))


def orders(shop):
    rng = shop.random
    for number in range(880_000, 880_420):
        key = f"order:{number}"
        state = rng.choice(["paid", "packed", "shipped", "shipped", "delivered", "delivered", "delivered", "returned"])
        shop.do("HSET", key, "user", shop.user(), "state", state, "total", rng.randrange(900, 90000), "placed", shop.now - rng.randrange(60 * DAY), "address", f"{rng.randrange(1, 200)} {rng.choice(LAST)} Street, {rng.choice(list(CITIES)).title()}")
        shop.unused(key, rng.expovariate(1 / (25 * DAY)))
        for _ in range(shop.zipf(12)):
            shop.do("RPUSH", f"{key}:lines", json.dumps({"p": rng.randrange(1, 460), "n": rng.randrange(1, 4), "price": rng.randrange(490, 48900)}))


def catalogue(shop):
    rng = shop.random
    # A nightly warm-up wrote all of these with one expiry: they expire in the same second.
    storm = (shop.now + 6 * HOUR) * 1000
    for number in range(1, 460):
        key = f"cache:product:{number}"
        shop.do("SET", key, json.dumps(shop.product(number)))
        if number <= 140:
            shop.expire(key, 0, storm + rng.randrange(1000))
        elif number <= 360:
            shop.expire(key, rng.uniform(10 * MINUTE, 23 * HOUR))
        shop.unused(key, rng.expovariate(1 / (3 * HOUR)) if number <= 360 else rng.uniform(20 * DAY, 120 * DAY))
        shop.do("SET", f"product:{number}:stock", rng.randrange(0, 400))
        shop.do("SADD", f"product:{number}:tags", *rng.sample(TAGS, shop.zipf(6, 0.8)))
        if rng.random() < 0.5:
            shop.do("INCRBY", f"product:{number}:views", int(rng.paretovariate(0.7)))
    for tag in TAGS:
        shop.do("SADD", f"tag:{tag}:products", *rng.sample(range(1, 460), rng.randrange(8, 200)))
    # Rendered pages: few keys, most of the memory.
    for page in range(36):
        key = f"cache:page:{rng.choice(LOCALES)}:{rng.choice(TAGS)}-{rng.choice(NOUNS)}-{page}"
        item = "".join(f'<li class="tile" data-id="{rng.randrange(1, 460)}"><h3>{rng.choice(NOUNS)}</h3></li>' for _ in range(30))
        body = "<!doctype html><main>" + item * shop.zipf(40, 0.5) + shop.text(60) + "</main>"
        shop.do("SET", key, body)
        if page % 3:
            shop.expire(key, rng.uniform(5 * MINUTE, 12 * HOUR))
        shop.unused(key, rng.expovariate(1 / (2 * HOUR)))
    # All article numbers of all suppliers, in one hash that is never trimmed.
    for start in range(0, 8000, 500):
        pairs = ((f"S{number:07d}", rng.randrange(1, 460)) for number in range(start, start + 500))
        shop.do("HSET", "catalogue:sku-index", *(part for pair in pairs for part in pair))
    shop.unused("catalogue:sku-index", 41 * DAY)


def locks_and_limits(shop):
    rng = shop.random
    for number in rng.sample(range(880_000, 880_420), 24):
        key = f"lock:order:{number}"
        shop.do("SET", key, shop.uuid())
        if rng.random() < 0.7:
            shop.expire(key, rng.uniform(20, 60))
        else:
            shop.unused(key, rng.uniform(DAY, 50 * DAY))
    for _ in range(130):
        key = f"rate:login:198.51.100.{rng.randrange(256)}"
        shop.do("INCRBY", key, shop.zipf(60))
        shop.expire(key, rng.uniform(30, HOUR))
    for number in range(40):
        key = f"tmp:import:{shop.hex(16)}"
        shop.do("SET", key, shop.text(rng.randrange(20, 80)))
        if number % 4:
            shop.expire(key, rng.uniform(MINUTE, 30 * MINUTE))


def rankings(shop):
    rng = shop.random
    for ago in range(30):
        key = f"leaderboard:sales:{shop.day(ago)}"
        for product in rng.sample(range(1, 460), rng.randrange(40, 190)):
            shop.do("ZADD", key, rng.randrange(1, 300), product)
        shop.expire(key, (31 - ago) * DAY)
    for start in range(0, 6000, 500):
        pairs = ((round(rng.paretovariate(0.6), 2), f"u{number}") for number in range(start, start + 500))
        shop.do("ZADD", "leaderboard:spending:all-time", *(part for pair in pairs for part in pair))
    for city, (longitude, latitude) in CITIES.items():
        for number in range(rng.randrange(4, 20)):
            shop.do("GEOADD", "geo:pickup-points", f"{longitude + rng.gauss(0, 0.1):.6f}", f"{latitude + rng.gauss(0, 0.1):.6f}", f"{city}-{number}")


def queues(shop):
    rng = shop.random
    # The mailer has been down since last week.
    for start in range(0, 20_000, 500):
        jobs = (f"mail:{rng.choice(['receipt', 'shipped', 'survey'])}:{880_000 + rng.randrange(420)}" for _ in range(500))
        shop.do("RPUSH", "queue:mail", *jobs)
    shop.unused("queue:mail", 9 * DAY)
    for name, length in (("thumbnails", 37), ("invoices", 4), ("search-index", 310)):
        for _ in range(length):
            shop.do("RPUSH", f"queue:{name}", json.dumps({"id": shop.uuid(), "try": rng.randrange(3)}))
    for _ in range(70):
        shop.do("ZADD", "queue:delayed", shop.now + rng.randrange(6 * HOUR), shop.uuid())


def streams(shop):
    rng = shop.random
    start = (shop.now - 3 * DAY) * 1000
    for name, length in (("events:orders", 1400), ("events:stock", 300), ("events:clicks", 2600)):
        moment = start
        for _ in range(length):
            moment += int(rng.expovariate(1 / 60_000)) + 1
            shop.do("XADD", name, f"{moment}-0", "type", rng.choice(["placed", "paid", "packed"]), "id", 880_000 + rng.randrange(420), "by", shop.user())
    for group, consumers, read, done in (("billing", ["billing-1", "billing-2"], 900, 860), ("shipping", ["ship-a"], 400, 130)):
        shop.do("XGROUP", "CREATE", "events:orders", group, "0")
        for consumer in consumers:
            shop.do("XREADGROUP", "GROUP", group, consumer, "COUNT", read // len(consumers), "STREAMS", "events:orders", ">")
        moment, acknowledged = start, 0
        for words in [words for words in shop.commands if words[:2] == ("XADD", "events:orders")][:done]:
            shop.do("XACK", "events:orders", group, words[2])
    shop.do("XGROUP", "CREATE", "events:stock", "warehouse", "$")
    for number in range(12):
        shop.do("XADD", f"audit:user:{shop.user()}", "MAXLEN", 50, f"{start + number}-1", "action", "login", "ip", f"192.0.2.{number}")


def counting(shop):
    rng = shop.random
    for ago in range(14):
        shop.do("PFADD", f"uv:home:{shop.day(ago)}", *(shop.hex(12) for _ in range(30 if ago % 3 else 2500)))
        shop.expire(f"uv:home:{shop.day(ago)}", (60 - ago) * DAY)
    for ago in range(21):
        for _ in range(120):
            shop.do("SETBIT", f"active:{shop.day(ago)}", shop.user(), 1)
        shop.expire(f"active:{shop.day(ago)}", (90 - ago) * DAY)


def bad_names(shop):
    rng = shop.random
    for number in range(12345, 12365):
        shop.do("SET", str(number), shop.text(4))
    for number in rng.sample(range(1000, 1620), 40):
        shop.do("SET", f"user_profile_{number}", json.dumps({"name": rng.choice(FIRST), "v": 1}))
    for number in range(18):
        shop.do("SET", f"User:Settings:{number}", "dark")
        shop.do("SET", f"user::{number}:avatar", shop.hex(20))
    for word in NOUNS:
        shop.do("SET", f"search:{word} {rng.choice(TAGS)}", rng.randrange(1, 99))
        shop.do("SET", f'filter:"{word}"', rng.randrange(1, 99))
    for number in range(6):
        shop.do("SET", b"import:caf\xe9:%d" % number, "written as Latin-1")
        shop.do("SET", b"blob:" + bytes(rng.randrange(128, 256) for _ in range(8)), shop.hex(8))
    shop.do("SET", "export:", "a prefix and nothing behind it")
    shop.do("SET", "note:first\nsecond", "a name of two lines")
    shop.do("SET", "it's:here", "quoted")
    shop.do("HSET", "search:query:" + "+".join(rng.choice(WORDS) for _ in range(60)), "hits", 0, "took", 12)
    shop.do("SET", "url:https://shop.example/list?" + "&".join(f"tag={tag}" for tag in TAGS) + f"&sort={shop.hex(40)}", "1")


def workers(shop):
    """Database 1: keys of the task queue library, under its own names."""
    rng = shop.random
    shop.do("SELECT", 1)
    for _ in range(260):
        task = shop.uuid()
        body = {"status": rng.choice(["SUCCESS", "SUCCESS", "SUCCESS", "FAILURE"]), "result": shop.text(rng.randrange(2, 20)), "task_id": task}
        shop.do("SET", f"task-meta-{task}", json.dumps(body), "PX", rng.randrange(HOUR * 1000, DAY * 1000))
    for name in ("default", "reports", "mail"):
        shop.do("SADD", f"_binding.{name}", f"{name}\x06\x16\x06\x16{name}")
    for _ in range(25):
        shop.do("HSET", "unacked", shop.uuid(), json.dumps({"body": shop.hex(60), "retries": 0}))
    shop.do("SELECT", 0)


def settings(shop):
    """Database 2: configuration and reports."""
    rng = shop.random
    shop.do("SELECT", 2)
    for name in ("checkout-v2", "dark-mode", "one-click", "new-search", "gift-wrap"):
        shop.do("HSET", f"feature:{name}", "on", rng.randrange(2), "share", rng.randrange(0, 100), "owner", rng.choice(FIRST).lower())
    for locale in LOCALES:
        for number in range(140):
            shop.do("HSET", f"i18n:{locale}", f"label.{number}", shop.text(rng.randrange(1, 7)))
    for ago in range(10):
        rows = "\n".join(f"{rng.randrange(1, 460)};{rng.randrange(1, 90)};{rng.randrange(100, 90000)}" for _ in range(1500))
        shop.do("SET", f"report:daily:{shop.day(ago)}", "product;sold;turnover\n" + rows)
    shop.do("SELECT", 0)


PARTS = [users, sessions, carts, orders, catalogue, locks_and_limits, rankings, queues, streams, counting, bad_names, workers, settings]
LIBRARY = "#!lua name=shop\nredis.register_function('take', function(keys) return redis.call('DECR', keys[1]) end)\n"


def live_on(client, seed):
    """Changes in the shop after dumps/shop.rdb was saved."""
    rng = random.Random(seed)
    commands = [("SET", f"coupon:autumn:{number}", rng.randrange(10**12), "EX", 7 * DAY) for number in range(6000)]
    commands += [("RPUSH", "queue:mail", *(f"mail-{number}-{step}" for step in range(50))) for number in range(120)]
    commands += [("EXPIRE", key, 30 * DAY) for key in sorted(client.call("KEYS", "product:*:tags"))]
    client.pipeline(commands)


def save_later(arguments):
    before = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dumps", "shop.rdb")
    with Server("--maxmemory-policy", "allkeys-lru", dump=before) as server:
        live_on(server.client, arguments.seed)
        time.sleep(1)
        server.client.call("SAVE")
        shutil.copyfile(server.dump, arguments.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-o", "--output", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "dumps", "shop.rdb"))
    parser.add_argument("--later", action="store_true", help="go on from dumps/shop.rdb")
    arguments = parser.parse_args()
    if arguments.later:
        return save_later(arguments)
    with Server("--maxmemory-policy", "allkeys-lru") as server:
        client = server.client
        client.call("DEBUG", "SET-ACTIVE-EXPIRE", 0)
        client.call("FUNCTION", "LOAD", LIBRARY)
        shop = Shop(client, arguments.seed)
        for part in PARTS:
            part(shop)
        shop.play()
        # Expiries are a moment ahead: one in the past would delete the key at once.
        soon = int(time.time() * 1000) + 500
        client.pipeline(("PEXPIREAT", key, soon) for key in shop.ended)
        time.sleep(1)
        client.call("SAVE")
        shutil.copyfile(server.dump, arguments.output)
        keys = [client.pipeline([("SELECT", db), ("DBSIZE",)])[1] for db in range(3)]
    print(f"{arguments.output}: {os.path.getsize(arguments.output):,} bytes, keys by database {keys}")


if __name__ == "__main__":
    main()
