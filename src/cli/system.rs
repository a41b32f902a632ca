//! Memory and disk of this machine: the defaults of `--max-memory` and `--max-temp`.

use std::path::{Path, PathBuf};

use super::args::BudgetArgs;
use crate::limits::Budget;

/// Least default of `--max-memory`.
const MIN_MEMORY: u64 = 256 << 20;

/// Returns the budget of a run: the flags, else a quarter of the memory and half of the space that is free in `temp`.
pub fn budget(args: BudgetArgs, temp: &Path) -> Budget {
    let usual = Budget::default();
    let memory = || memory().map_or(usual.memory, |bytes| (bytes / 4).max(MIN_MEMORY));
    let temp = || free(temp).map_or(usual.temp, |bytes| bytes / 2);
    Budget { memory: args.max_memory.unwrap_or_else(memory), temp: args.max_temp.unwrap_or_else(temp), ..usual }
}

/// Returns the memory that this process may take: that of the machine or less, if its control groups have a limit. `None` if
/// the system does not tell.
fn memory() -> Option<u64> {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let machine = read(Path::new("/proc/meminfo")).as_deref().and_then(total);
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let limits = limit_files(&groups).filter_map(|path| read(&path)?.trim().parse().ok());
    machine.into_iter().chain(limits).min()
}

/// Returns the total memory from the text of `/proc/meminfo`, in bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the files with the memory limits of the control groups, and of all groups around them, from the text of
/// `/proc/self/cgroup`. In a container the innermost group is often mounted at the root.
fn limit_files(groups: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let named = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    named.flat_map(|(controllers, group)| {
        let (root, file) = match controllers {
            "" => (Some("/sys/fs/cgroup"), "memory.max"),
            "memory" => (Some("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
            _ => (None, ""),
        };
        root.into_iter().flat_map(move |root| {
            let group = Path::new(group.trim_start_matches('/'));
            group.ancestors().map(move |group| Path::new(root).join(group).join(file))
        })
    })
}

/// Returns the free bytes of the file system that a directory is on; `None` if the system does not tell.
#[cfg(unix)]
fn free(dir: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(dir).ok()?;
    found.f_bavail.checked_mul(found.f_frsize)
}

/// Other systems are not asked.
#[cfg(not(unix))]
fn free(_dir: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_machine_is_read() {
        assert_eq!(total("MemTotal:       24594312 kB\nMemFree:  100 kB\n"), Some(24_594_312 * 1024));
        assert_eq!((total("MemTotal: many kB"), total("")), (None, None));
    }

    #[test]
    fn limits_of_all_groups_around_count() {
        let files: Vec<_> = limit_files("0::/a/b\n").collect();
        let expected =
            ["a/b/memory.max", "a/memory.max", "memory.max"].map(|file| Path::new("/sys/fs/cgroup").join(file));
        assert_eq!(files, expected);
        let files: Vec<_> = limit_files("5:cpu,cpuacct:/x\n4:memory:/\n").collect();
        assert_eq!(files, [Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes")]);
        assert_eq!(limit_files("nonsense").count(), 0);
    }

    #[test]
    fn flags_come_before_defaults() {
        let args = BudgetArgs { max_memory: Some(7), max_temp: Some(9) };
        assert_eq!(budget(args, Path::new("/")), Budget { memory: 7, temp: 9, inputs: 1 });
        let usual = budget(BudgetArgs::default(), &std::env::temp_dir());
        assert!(usual.memory >= MIN_MEMORY);
    }
}
