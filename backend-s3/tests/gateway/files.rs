//! The gateway on buckets in a folder.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use tabla_s3::FileFolder;
use tabla_server::listener::ListenerConfig;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::signer::Signer;
use crate::support::{BUCKET, Gateway, Plain, eventually};

#[tokio::test]
async fn objects_of_a_folder_are_written_read_and_presigned() {
    let place = tempfile::tempdir().unwrap();
    let folder = FileFolder::open(place.path()).await.unwrap();
    let gateway = Gateway::with(|config| config, Some(Arc::new(folder))).await;
    let content = vec![b'x'; 3 << 20];
    let put = gateway.client.put_object().bucket(BUCKET).key("a/../a//b");
    put.body(ByteStream::from(content.clone())).send().await.unwrap();
    let get = gateway.client.get_object().bucket(BUCKET).key("a/../a//b");
    let expiry = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let get = Plain::from(get.presigned(expiry).await.unwrap());
    assert!(gateway.send(&get).await.body == content);
    gateway.client.create_bucket().bucket("second").send().await.unwrap();
    let copy = gateway.client.copy_object().bucket("second").key("c");
    copy.copy_source("default/a%2F..%2Fa%2F%2Fb").send().await.unwrap();
    let head = gateway.client.head_object().bucket("second").key("c").send().await.unwrap();
    assert_eq!(head.content_length(), Some(3 << 20));
}

/// Head of an upload of 9 MB.
fn upload(gateway: &Gateway, target: &str) -> Vec<u8> {
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let put = Plain::new("PUT", &format!("http://{}/{BUCKET}/{target}", gateway.host()));
    signer.header(put.header("content-length", "9000000"), "UNSIGNED-PAYLOAD", &[]).bytes()
}

/// Waits until this many files are being written. Returns the number of files that were left over.
async fn wait_for_uploads(folder: &FileFolder, count: u64) -> u64 {
    let mut left = 0;
    eventually("uploads are in progress", async || {
        let report = folder.sweep().await.unwrap();
        left += report.unreferenced;
        report.in_progress == count
    })
    .await;
    left
}

/// Each kind of upload takes every place of the gateway; then the clients vanish.
#[tokio::test]
async fn slow_and_vanished_clients_leave_nothing_behind() {
    const CONNECTIONS: usize = 4;
    let place = tempfile::tempdir().unwrap();
    let folder = Arc::new(FileFolder::open(place.path().join("assets")).await.unwrap());
    let configure = |config: ListenerConfig| config.with_max_connections(CONNECTIONS);
    let gateway = Gateway::with(configure, Some(folder.clone())).await;
    let created = gateway.client.create_multipart_upload().bucket(BUCKET).key("film").send().await;
    let id = created.unwrap().upload_id.unwrap();
    for target in ["k".to_owned(), format!("film?partNumber=1&uploadId={id}")] {
        let head = upload(&gateway, &target);
        let mut sockets = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
            socket.write_all(&head).await.unwrap();
            socket.write_all(&vec![b'x'; 5_000_000]).await.unwrap();
            sockets.push(socket);
        }
        // A sweep may take a new file before it is locked. Then the upload takes another one.
        wait_for_uploads(&folder, CONNECTIONS as u64).await;
        drop(sockets);
        assert_eq!(wait_for_uploads(&folder, 0).await, 0, "clients have left files");
        // Another client gets a place at once.
        assert!(gateway.keys().await.is_empty());
    }
    let parts = gateway.client.list_parts().bucket(BUCKET).key("film").upload_id(&id);
    assert!(parts.send().await.unwrap().parts().is_empty());
    let files = std::fs::read_dir(place.path().join("assets/data")).unwrap();
    let files = files.flat_map(|subfolder| std::fs::read_dir(subfolder.unwrap().path()).unwrap());
    assert_eq!(files.count(), 0);
}
