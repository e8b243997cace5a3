//! Jars of DynamoDB Local, from Maven Central.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Permission;
use super::dynamodb::VERSION;
use crate::Result;
use crate::machine::{can_install, has, install};
use crate::steps::run;

/// Returns the folder of the jars. Downloads them if they are missing, and installs Java and Maven
/// before if that is permitted.
pub(super) fn ready(folder: &Path, permission: Permission) -> Result<PathBuf> {
    java_and_maven(permission)?;
    let jars = folder.join(format!("jars-{VERSION}"));
    if jars.is_dir() {
        return Ok(jars);
    }
    println!("downloading DynamoDB Local {VERSION} from Maven Central");
    // The folder gets its name when it is complete, so that an interrupted download is repeated.
    let partial = folder.join("jars-partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(folder)?;
    let project = folder.join("pom.xml");
    fs::write(&project, project_text())?;
    run(Command::new("mvn")
        .args(["--batch-mode", "--quiet", "--file"])
        .arg(&project)
        .arg("org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies")
        .arg("-DincludeScope=runtime")
        .arg(format!("-DoutputDirectory={}", partial.display())))?;
    fs::rename(&partial, &jars)?;
    Ok(jars)
}

fn java_and_maven(permission: Permission) -> Result<()> {
    let missing: Vec<&str> = [("java", "default-jre-headless"), ("mvn", "maven")]
        .into_iter()
        .filter(|(program, _)| !has(program))
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if permission == Permission::UseOnly || !can_install() {
        let message = format!("missing, and cannot be installed here: {}", missing.join(", "));
        return Err(message.into());
    }
    install(&missing)
}

/// Maven project with DynamoDB Local as its only dependency.
fn project_text() -> String {
    format!(
        r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tabla</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"#
    )
}
