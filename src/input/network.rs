//! File systems whose files may become shorter at any time.

use std::fs::File;

/// Types of file systems over a network, or of another process, in the numbers of `statfs`: NFS, SMB (three), AFS, Ceph,
/// Lustre, 9P, Coda, and FUSE, as of s3fs and sshfs.
#[cfg(target_os = "linux")]
const REMOTE: [u64; 10] = [
    0x6969,
    0x517B,
    0xFE53_4D42,
    0xFF53_4D42,
    0x5346_414F,
    0x00C3_6400,
    0x0BD0_0BD0,
    0x0102_1997,
    0x7375_7245,
    0x6573_5546,
];

/// Returns whether another machine may change the file unseen, so that it is better read than mapped.
#[cfg(target_os = "linux")]
pub fn is_remote(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(is_remote_type))
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub fn is_remote(_file: &File) -> bool {
    false
}

#[cfg(target_os = "linux")]
fn is_remote_type(kind: u64) -> bool {
    REMOTE.contains(&kind)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        for remote in [0x6969, 0xFF53_4D42, 0x6573_5546] {
            assert!(is_remote_type(remote));
        }
        // ext4, XFS, Btrfs, tmpfs, overlayfs.
        for local in [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630] {
            assert!(!is_remote_type(local));
        }
        // Of the kernel, on this machine.
        assert!(!is_remote(&File::open("/proc/self/status").unwrap()));
    }
}
