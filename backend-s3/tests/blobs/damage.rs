//! Damaged files and catalogues are reported, never served.

use tabla_core::ErrorKind;
use tabla_core::blobs::*;

use crate::support::*;

/// Damages the only file of a blob of this length, and returns the error of a read.
async fn read_damaged(length: usize, damage: impl FnOnce(&std::path::Path)) -> tabla_core::Error {
    let sample = Sample::new().await;
    sample.blobs.put(PutBlob::new("photo", bytes(1, length))).await.expect("a put");
    let [file] = sample.files().try_into().expect("one file");
    damage(&file);
    failure(read(&*sample.blobs, "photo").await)
}

#[tokio::test]
async fn damaged_file_is_reported_as_corrupt() {
    for length in [1000, 1_000_000] {
        let missing = read_damaged(length, |file| std::fs::remove_file(file).unwrap()).await;
        let shorter = read_damaged(length, |file| {
            let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(length as u64 - 1).unwrap();
        });
        let longer = read_damaged(length, |file| {
            let file = std::fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(length as u64 + 1).unwrap();
        });
        let flipped = read_damaged(length, |file| {
            let mut bytes = std::fs::read(file).unwrap();
            bytes[length / 2] ^= 1;
            std::fs::write(file, bytes).unwrap();
        });
        let bytes = |count| format!("has {count} bytes, not {length}");
        for (error, part) in [
            (missing, "is missing".to_owned()),
            (shorter.await, bytes(length - 1)),
            (longer.await, bytes(length + 1)),
            (flipped.await, "do not have its checksum SHA256".to_owned()),
        ] {
            assert_eq!(error.kind(), &ErrorKind::Corrupt, "{error}");
            assert!(error.message().contains(&part), "{error}");
            assert!(error.message().contains("`photo`"), "{error}");
            assert!(error.message().contains("from a backup"), "{error}");
        }
    }
}

#[tokio::test]
async fn damage_is_found_by_whichever_checksum_is_stored() {
    for algorithm in ChecksumAlgorithm::ALL {
        if algorithm == ChecksumAlgorithm::Md5 {
            continue;
        }
        let sample = Sample::new().await;
        let put = PutBlob::new("photo", bytes(1, 100_000)).checksum_algorithm(algorithm);
        sample.blobs.put(put).await.expect("a put");
        let [file] = sample.files().try_into().expect("one file");
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[99_999] ^= 1;
        std::fs::write(file, bytes).unwrap();
        let error = failure(read(&*sample.blobs, "photo").await);
        assert_eq!(error.kind(), &ErrorKind::Corrupt, "{error}");
        let part = format!("do not have its checksum {algorithm}");
        assert!(error.message().contains(&part), "{error}");
    }
}

#[tokio::test]
async fn damaged_row_is_reported_as_corrupt() {
    for damage in
        ["files = x'00'", "checksum = 'SHA256 ?'", "metadata = '{'", "size = -1", "modified = -1"]
    {
        let sample = Sample::new().await;
        sample.blobs.put(PutBlob::new("photo", "1")).await.unwrap();
        let catalogue = rusqlite::Connection::open(sample.path.join("catalogue.db")).unwrap();
        catalogue.execute_batch(&format!("UPDATE blob SET {damage}")).unwrap();
        let error = failure(sample.blobs.head(HeadBlob::new("photo")).await);
        assert_eq!(error.kind(), &ErrorKind::Corrupt, "{damage}: {error}");
        assert!(error.message().contains("the catalogue is damaged"), "{error}");
    }
}
