//! The peer that sorts with CUB: built once for a compiler, a device's architecture and types of keys, then kept.

use super::{Program, Wanted};
use bitonic::key::KeyType;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, io};
use tempfile::TempDir;

/// The peer's sources; the first is the program, the others are included by it.
const SOURCES: [(&str, &str); 4] = [
    ("peer.cu", include_str!("../../peers/cub/peer.cu")),
    ("device.cuh", include_str!("../../peers/cub/device.cuh")),
    ("arrays.cuh", include_str!("../../peers/cub/arrays.cuh")),
    ("rows.cuh", include_str!("../../peers/cub/rows.cuh")),
];

/// The peer for these keys: from the cache folder, or built by nvcc, which takes a minute or so, and kept there if possible.
pub(super) fn program(wanted: &Wanted, hears: &mut dyn FnMut(&'static str)) -> Result<Program, String> {
    let options = options(wanted)?;
    let compiler = Compiler::find()?;
    let name = format!("cub-peer-{}", identity(&compiler.version, &options));
    // Not relative: the peer is started in another folder.
    let kept = bitonic::cache_folder().and_then(|folder| path::absolute(folder.join(name)).ok());
    if let Some(kept) = kept.as_ref().filter(|kept| is_ours(kept)) {
        return Ok(Program { command: Command::new(kept), folder: None });
    }
    hears("building the CUB peer with nvcc");
    // Beside its place, and moved there when whole: others may be looking for it.
    let beside = kept.as_ref().and_then(|kept| folder_beside(kept).ok());
    if let (Some(kept), Some(beside)) = (&kept, beside) {
        let built = compiler.build(beside.path(), &options)?;
        if keep(&built, kept).is_ok() && is_ours(kept) {
            return Ok(Program { command: Command::new(kept), folder: None });
        }
    }
    let folder = TempDir::new().map_err(|error| format!("there is no folder to build it in: {error}"))?;
    let built = compiler.build(folder.path(), &options)?;
    Ok(Program { command: Command::new(built), folder: Some(folder) })
}

/// The compiler's options: for this device and these types.
fn options(wanted: &Wanted) -> Result<Vec<String>, String> {
    let types: Vec<&str> = wanted.key_types.iter().filter_map(|&key_type| type_in_cpp(key_type)).collect();
    if types.is_empty() {
        return Err("it sorts u32, i32, f32, u64, i64 and f64 only".to_owned());
    }
    let devices = bitonic::cuda::devices().unwrap_or_default();
    let architecture = match devices.iter().find(|device| device.index == wanted.ordinal) {
        Some(device) => format!("sm_{}{}", device.compute_capability.0, device.compute_capability.1),
        None => "native".to_owned(),
    };
    // Without the backslash nvcc would take what follows a comma for another definition.
    let types = format!("-DPEER_TYPES={}", types.join("\\,"));
    Ok(vec!["-O3".to_owned(), "-std=c++17".to_owned(), format!("-arch={architecture}"), types])
}

fn type_in_cpp(key_type: KeyType) -> Option<&'static str> {
    match key_type {
        KeyType::U32 => Some("std::uint32_t"),
        KeyType::I32 => Some("std::int32_t"),
        KeyType::F32 => Some("float"),
        KeyType::U64 => Some("std::uint64_t"),
        KeyType::I64 => Some("std::int64_t"),
        KeyType::F64 => Some("double"),
        _ => None,
    }
}

/// Differs where another program would be built.
fn identity(compiler: &str, options: &[String]) -> String {
    let mut hasher = Sha256::new();
    let sources = SOURCES.iter().flat_map(|&(name, text)| [name, text]);
    for part in sources.chain([compiler]).chain(options.iter().map(String::as_str)) {
        // With its length, so that no two lists of parts look the same.
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    digits(&hasher.finalize())
}

fn digits(hash: &[u8]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a program was kept there that is whole, and that nobody else can have written: it is run.
fn is_ours(program: &Path) -> bool {
    let hash = hash_file(program);
    let is_trusted = |path: &Path| path.is_file() && bitonic::is_trusted(path);
    program.parent().is_some_and(bitonic::is_trusted)
        && is_trusted(program)
        && is_trusted(&hash)
        && hash_of(program).is_ok_and(|now| fs::read_to_string(hash).is_ok_and(|kept| kept == now))
}

/// Moves a program that was built to its place, with its hash beside it.
fn keep(built: &Path, program: &Path) -> io::Result<()> {
    let hash = built.with_extension("sha256");
    fs::write(&hash, hash_of(built)?)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Whatever the user's mask says: what others may write is not run.
        fs::set_permissions(&hash, fs::Permissions::from_mode(0o600))?;
        fs::set_permissions(built, fs::Permissions::from_mode(0o700))?;
    }
    fs::rename(hash, hash_file(program))?;
    fs::rename(built, program)
}

fn hash_file(program: &Path) -> PathBuf {
    program.with_extension("sha256")
}

fn hash_of(program: &Path) -> io::Result<String> {
    Ok(digits(&Sha256::digest(fs::read(program)?)))
}

/// A new folder in the one that a file is in.
fn folder_beside(file: &Path) -> io::Result<TempDir> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    TempDir::new_in(folder)
}

/// nvcc.
struct Compiler {
    program: OsString,
    /// All that it says about its version.
    version: String,
}

impl Compiler {
    /// The nvcc in PATH, else that of the toolkit's usual places.
    fn find() -> Result<Self, String> {
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
        let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]);
        let candidates = [OsString::from("nvcc")]
            .into_iter()
            .chain(toolkits.map(|toolkit| toolkit.join("bin").join("nvcc").into()));
        for program in candidates {
            match Command::new(&program).arg("--version").output() {
                Ok(output) if output.status.success() => {
                    let version = String::from_utf8_lossy(&output.stdout).into_owned();
                    return Ok(Self { program, version });
                }
                _ => {}
            }
        }
        Err("nvcc, which builds it, is not installed: install NVIDIA's CUDA toolkit so that nvcc is in PATH, or name a built \
             peer in BITONIC_CUB_PEER"
            .to_owned())
    }

    /// Builds the peer in a folder. Its path.
    fn build(&self, folder: &Path, options: &[String]) -> Result<PathBuf, String> {
        for (name, text) in SOURCES {
            fs::write(folder.join(name), text)
                .map_err(|error| format!("its sources cannot be written to be built: {error}"))?;
        }
        let built = folder.join("peer");
        let output = Command::new(&self.program)
            .args(options)
            .args([SOURCES[0].0, "-o", "peer"])
            .current_dir(folder)
            .output();
        match output {
            Ok(output) if output.status.success() && built.is_file() => Ok(built),
            Ok(output) => Err(format!(
                "nvcc does not build it: {}: name a built peer in BITONIC_CUB_PEER, or use another CUDA toolkit",
                complaint(&output)
            )),
            Err(error) => Err(format!("nvcc, which builds it, does not start: {error}")),
        }
    }
}

/// The first line in which the compiler speaks of an error, else its last one.
fn complaint(output: &Output) -> String {
    let said = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line =
        lines().find(|line| line.contains("error") || line.contains("fatal")).or_else(|| lines().next_back());
    line.map_or_else(|| output.status.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn wanted(key_types: &[KeyType]) -> Wanted {
        Wanted {
            key_types: key_types.to_vec(),
            ordinal: 0,
            python: "python3".into(),
            patience: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_peer_is_built_for_the_types_that_it_knows() {
        let options = options(&wanted(&[KeyType::U32, KeyType::U8, KeyType::F64])).unwrap();
        assert_eq!(options.last().unwrap(), "-DPEER_TYPES=std::uint32_t\\,double");
        assert!(super::options(&wanted(&[KeyType::F16, KeyType::Bool])).is_err());
    }

    #[test]
    fn another_compiler_or_other_options_make_another_program() {
        let [one, other] = ["-O3", "-O2"].map(|option| vec![option.to_owned()]);
        assert_eq!(identity("13.0", &one), identity("13.0", &one));
        assert_ne!(identity("13.0", &one), identity("13.1", &one));
        assert_ne!(identity("13.0", &one), identity("13.0", &other));
    }

    #[test]
    #[cfg(unix)]
    fn a_program_that_was_changed_or_that_others_may_write_is_not_run() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TempDir::new().unwrap();
        let [built, kept] = ["peer", "cub-peer-1"].map(|name| folder.path().join(name));
        fs::write(&built, "a program").unwrap();
        assert!(!is_ours(&kept));
        keep(&built, &kept).unwrap();
        assert!(is_ours(&kept));
        fs::write(&kept, "another one").unwrap();
        assert!(!is_ours(&kept), "its hash is that of another program");
        fs::write(&kept, "a program").unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_ours(&kept), "others may write to it");
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(is_ours(&kept));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_ours(&kept), "others may write to its folder");
    }

    /// Takes as long as nvcc does. Without nvcc it says that it was skipped.
    #[test]
    fn nvcc_builds_the_peer_and_it_answers() {
        let compiler = match Compiler::find() {
            Ok(compiler) => compiler,
            Err(reason) => {
                println!("skipped: nvcc_builds_the_peer_and_it_answers: {reason}");
                return;
            }
        };
        let folder = TempDir::new().unwrap();
        let mut options = options(&wanted(&[KeyType::U32])).unwrap();
        // Without a device there is no architecture that is its own.
        options
            .iter_mut()
            .filter(|option| *option == "-arch=native")
            .for_each(|option| *option = "-arch=sm_80".into());
        let built = compiler.build(folder.path(), &options).unwrap();
        let said = Command::new(built).arg("0").stdin(std::process::Stdio::null()).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(
            said.starts_with("ready CUB ") || said.starts_with("error CUDA cannot open the device: "),
            "{said}"
        );

        fs::write(folder.path().join("broken.cu"), "no C++").unwrap();
        let broken = compiler.build(folder.path(), &[options, vec!["broken.cu".to_owned()]].concat());
        assert!(broken.unwrap_err().starts_with("nvcc does not build it: "));
    }
}
