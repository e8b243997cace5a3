//! The gateway on buckets in a folder.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use tabla_s3::FileFolder;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::signer::Signer;
use crate::support::{BUCKET, Gateway, Plain};

#[tokio::test]
async fn objects_of_a_folder_are_written_read_and_presigned() {
    let place = tempfile::tempdir().unwrap();
    let folder = FileFolder::open(place.path()).await.unwrap();
    let gateway = Gateway::with(|config| config, Some(Arc::new(folder))).await;
    let content = vec![b'x'; 3 << 20];
    let put = gateway.client.put_object().bucket(BUCKET).key("../a//b");
    put.body(ByteStream::from(content.clone())).send().await.unwrap();
    let get = gateway.client.get_object().bucket(BUCKET).key("../a//b");
    let expiry = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let get = Plain::from(get.presigned(expiry).await.unwrap());
    assert!(gateway.send(&get).await.body == content);
    gateway.client.create_bucket().bucket("second").send().await.unwrap();
    let copy = gateway.client.copy_object().bucket("second").key("c");
    copy.copy_source("default/..%2Fa%2F%2Fb").send().await.unwrap();
    let head = gateway.client.head_object().bucket("second").key("c").send().await.unwrap();
    assert_eq!(head.content_length(), Some(3 << 20));
}

#[tokio::test]
async fn client_that_vanishes_leaves_nothing_behind() {
    let place = tempfile::tempdir().unwrap();
    let folder = Arc::new(FileFolder::open(place.path()).await.unwrap());
    let gateway = Gateway::with(|config| config, Some(folder.clone())).await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let put = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let put = signer.header(put.header("content-length", "9000000"), "UNSIGNED-PAYLOAD", &[]);
    for _ in 0..4 {
        let mut socket = TcpStream::connect(gateway.server.address()).await.unwrap();
        socket.write_all(&put.bytes()).await.unwrap();
        socket.write_all(&vec![b'x'; 5_000_000]).await.unwrap();
        drop(socket);
    }
    let Gateway { server, client, .. } = gateway;
    // It waits for the requests in flight.
    server.shutdown().await;
    drop(client);
    folder.sweep().await.unwrap();
    let blobs = folder.blobs(BUCKET).unwrap();
    let list = tabla_core::blobs::Blobs::list(&blobs, tabla_core::blobs::ListBlobs::new());
    assert!(list.await.unwrap().blobs.is_empty());
}
