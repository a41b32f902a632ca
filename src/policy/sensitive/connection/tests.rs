//! Tests: which connection strings hold a password.

use super::*;

fn found(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    scan(text.as_bytes(), |range| found.push(&text[range]));
    // A password may be one by its URL and by the list of settings that it is in.
    found.dedup();
    found
}

#[test]
fn passwords_of_connection_strings_are_found() {
    for (text, password) in [
        ("redis://user:secret@host:6379/0", "secret"),
        ("redis://:s3cret@host:6379", "s3cret"),
        ("rediss://default:a:b@10.0.0.1", "a:b"),
        ("mysql://root:pw@10.0.0.1:3306/shop", "pw"),
        ("jdbc:mysql://db:3306/shop?user=root&password=abc&useSSL=false", "abc"),
        ("jdbc:sqlserver://db:1433;databaseName=shop;user=sa;password=Abc123;", "Abc123"),
        ("amqp://guest:guest@mq:5672/v", "guest"),
        ("mongodb://app:pa%40ss@h1:27017,h2:27017/shop?replicaSet=r", "pa%40ss"),
        ("mongodb+srv://app:p@ss@cluster.mongodb.net/shop", "p@ss"),
        ("postgres://app:0123456789abcdef0123456789abcdef@db/shop", "0123456789abcdef0123456789abcdef"),
        ("https://ci:ghp_x7@git.corp.cn/shop.git", "ghp_x7"),
        ("{\"url\":\"redis://u:pw1@h:6379\",\"n\":1}", "pw1"),
        ("{\"url\":\"jdbc:mysql://h/s?password=pw1\"}", "pw1"),
        ("url: ftp://u:pw1@h/x or not", "pw1"),
        ("Server=db;Database=shop;Uid=sa;Pwd=Secret1;", "Secret1"),
        ("host=db port=5432 user=app password=hunter2 dbname=shop", "hunter2"),
        ("redis.corp.cn:6379,password=hunter2,ssl=True", "hunter2"),
        ("redis://u:pw1@${REDIS_HOST}:6379", "pw1"),
        ("jdbc:oracle:thin:scott/tiger@host:1521:orcl", "tiger"),
        ("jdbc:oracle:thin:scott/tiger@//db.corp.cn:1521/orcl", "tiger"),
        ("url=jdbc:oracle:oci:scott/ti@ger@orcl", "ti@ger"),
        ("jdbc:oracle:thin:scott/tiger@(DESCRIPTION=(ADDRESS=(HOST=h)))", "tiger"),
        ("jdbc:h2:file:~/shop;USER=sa;PASSWORD=hunter2", "hunter2"),
        ("jdbc:db2://db:50000/shop:user=u;password=hunter2;", "hunter2"),
        ("root:hunter2@tcp(10.0.0.1:3306)/shop?parseTime=true", "hunter2"),
        ("{\"dsn\":\"root:hunter2@tcp(db:3306)/shop\"}", "hunter2"),
        ("DSN=root:hunter2@unix(/run/mysqld.sock)/shop", "hunter2"),
        ("mysql://root:hunter2@tcp(db:3306)/shop", "hunter2"),
        ("postgres://app:hunter2@/shop?host=/var/run", "hunter2"),
        ("mongodb+srv://app:hunter2@c.mongodb.net/shop?retryWrites=true&w=majority", "hunter2"),
        ("mysql+pymysql://root:hunter2@db/shop?charset=utf8mb4", "hunter2"),
        ("Data Source=db,1433;Initial Catalog=shop;User ID=sa;Password=hunter2;Encrypt=True", "hunter2"),
        ("{\"shop\":\"Server=db;Uid=sa;Pwd=hunter2\"}", "hunter2"),
        ("{\"cs\":\"{\\\"a\\\":\\\"Server=db;Pwd=hunter2\\\"}\"}", "hunter2"),
        ("url: Server=db;Uid=sa;Pwd='hunter2'", "hunter2"),
        ("AccountName=shop;AccountKey=Zm9vYmFy/w==;EndpointSuffix=core.windows.net", "Zm9vYmFy/w=="),
        ("Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=Zm9vYmFy=", "Zm9vYmFy="),
        ("PlainLoginModule required username=\"ann\" password=\"ann-secret\";", "ann-secret"),
        ("password = \"hunter2\"", "hunter2"),
        ("export DB_PASSWORD='hunter2'", "hunter2"),
        ("REDIS_PASSWORD=hunter2", "hunter2"),
    ] {
        assert_eq!(found(text), [password], "{text}");
    }
    assert_eq!(found("spring:\n  redis:\n    password: hunter2 \r\n    port: 6379\n"), ["hunter2"]);
    for (text, secret) in [
        ("spring:\n  password: ${REDIS_PWD:Abc@12345}\n", "Abc@12345"),
        ("spring.redis.password=\"${REDIS_PWD:Abc@12345}\"", "Abc@12345"),
        ("DB_PASSWORD=${DB_PASSWORD:-hunter2}", "hunter2"),
        ("aliyun.oss.accessKeySecret=aBcDeFgHiJkLmNoPqRsTuVwXyZ0123", "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123"),
        ("jwt:\n  secret: abcdef123456xyz\n", "abcdef123456xyz"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzX3mP9KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzX3mP9KEY"),
        ("api-key: sk4f9Lq2ZxT8", "sk4f9Lq2ZxT8"),
        ("api-key: abc123DEF456", "abc123DEF456"),
        ("OPENAI_API_KEY=sk-abc123DEF456ghi789jkl", "sk-abc123DEF456ghi789jkl"),
        ("DEEPSEEK_API_KEY=sk-1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f", "sk-1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f"),
        ("export JWT_SECRET=abc-123-xyz9", "abc-123-xyz9"),
        ("db.psw=Abc@12345", "Abc@12345"),
    ] {
        assert_eq!(found(text), [secret], "{text}");
    }
    assert_eq!(found("PWD=hunter2\nDB_PWD=/x7k2p9"), ["hunter2", "/x7k2p9"]);
    assert_eq!(found("a=b\nspring.datasource.password=P4ssw0rd!\n"), ["P4ssw0rd!"]);
    assert_eq!(found("redis://:a1@h redis://:b2@h\nhost=h password=c3"), ["a1", "b2", "c3"]);
}

#[test]
fn placeholders_and_other_texts_are_none() {
    for text in [
        "redis://host:6379",
        "redis://user@host",
        "redis://user:@host",
        "redis://user:password@host",
        "redis://:password@localhost:6379/0",
        "mysql://$user:$pass@db/shop",
        "mysql://%(user)s:%(password)s@db/shop",
        "git+ssh://git@git.corp.cn:shop/mall.git",
        "redis://user:***@host",
        "redis://user:****@host",
        "redis://user:xxxx@host",
        "redis://user:XXX@host",
        "mysql://root:${DB_PASSWORD}@db/shop",
        "mysql://root:$DB_PASSWORD@db/shop",
        "mysql://root:{{ password }}@db/shop",
        "mysql://root:<password>@db/shop",
        "mysql://root:[password]@db/shop",
        "mysql://root:%PASSWORD%@db/shop",
        "mysql://root:ENC(abc)@db/shop",
        "mysql://root:...@db/shop",
        "mysql://root:null@db/shop",
        "jdbc:mysql://db/shop?user=root&password=",
        "jdbc:mysql://db/shop?password=${PW}&user=root",
        "jdbc:mysql://db/shop?passwordCharacterEncoding=utf8",
        "https://corp.cn/login?redirect=a:b@c",
        "https://pan.corp.cn/s/1abc?pwd=x7k2",
        "https://corp.cn:8443/@scope/name",
        "https://corp.cn:443,@ann",
        "https://corp.cn/reset?user=1&password=new",
        "user=1&password=2",
        "12:30://a:b@c:",
        "://a:b@c",
        "a:b@c",
        "host=db user=app password=",
        "Server=db;Pwd={0}",
        "the host = here; password=hidden",
        "login.password=Password",
        "CI=true\nOLDPWD=/builds/app1\nexport PWD=/opt/app1",
        "password: required, at least 8 characters",
        "password: ENC(x7k2p9)",
        "password:attempts:1001",
        "password: 5f4dcc3b5aa765d61d8327deb882cf99",
        "user.password=$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
        "spring.redis.password=${REDIS_PASSWORD:x1}",
        "spring.redis.password=${REDIS_PASSWORD:${PW:Abc@12345}}",
        "spring.redis.password=${REDIS_PASSWORD}",
        "spring.redis.password=${REDIS_PASSWORD:root}",
        "secret: tls-cert-2024",
        "imagePullSecret: registry.corp.v2",
        "tls-secret: shop-tls1",
        "client-secret: db-credentials-2024",
        "redis.password=$ENV://JACK_PW1",
        "redis.password={vault://env/redis-pw1}",
        "redis.password=%env(DB_PASSWORD1)%",
        "redis.password=((db-password1))",
        "redis.password=env:DB_PASSWORD1",
        "jwt.secret=${JWT_SECRET}",
        "secretary: anna2024x",
        "key: a1b2c3d4",
        "secret:count:1001",
        "Your password: x7k2p9",
        "jdbc:oracle:thin:@host:1521:orcl",
        "jdbc:oracle:thin:@//host:1521/orcl",
        "jdbc:oracle:thin:@ldap://oid:389/orcl,cn=OracleContext@x",
        "jdbc:oracle:thin:/@wallet",
        "jdbc:oracle:thin:scott/${DB_PASSWORD}@host:1521:orcl",
        "jdbc:oracle:thin:scott/****@host:1521:orcl",
        "jdbc:oracle:thin:<user>/<password>@host:1521:orcl",
        "jdbc:oracle:thin:user/password@host:1521:orcl",
        "jdbc:h2:mem:shop;USER=sa;PASSWORD=",
        "root:${DB_PASSWORD}@tcp(db:3306)/shop",
        "root:$DB_PASSWORD2@tcp(db:3306)/shop",
        "root@tcp(db:3306)/shop",
        "user:password@tcp(localhost:5555)/dbname",
        "see a: b @tcp(x)",
        "redis://app:$(REDIS_PASSWORD)@host",
        "redis://app:@REDIS_PASSWORD@@host",
        "redis://app:__PASSWORD__@host",
        "redis://app:your_password@host",
        "redis://app:%{password}@host",
        "Server=db;Uid=sa;Pwd=\"${PW}\"",
        "Server=db;Uid=sa;Pwd='<password>'",
        "password = \"${PASSWORD1}\"",
        "password: '<password1>' # later",
        "DB_PASSWORD=$SECRET_1",
        "ann@/b:c",
        "https://a:b1@/c",
        "passwordless: x7k2p9",
    ] {
        assert_eq!(found(text), [""; 0], "{text}");
    }
}

#[test]
fn an_at_sign_of_a_url_is_told_from_that_of_an_address() {
    let ends = |text: &str| ends_user(text.as_bytes(), text.find('@').unwrap());
    assert!(ends("redis://user:secret@host.com") && ends("see ftp://ann@host.com"));
    assert!(ends("url=jdbc:oracle:thin:scott/tiger@db.corp.cn:1521:orcl"));
    assert!(!ends("jdbc:oracle:thin of ann@corp.cn"));
    assert!(!ends("mailto:ann@corp.cn") && !ends("https://corp.cn/ann@corp.cn") && !ends("ann@corp.cn"));
}
