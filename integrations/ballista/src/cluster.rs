//! The processes of a cluster: Ballista's own, which know bitonic's sort, its codec and its ranges.

use crate::codec::BitonicCodec;
use crate::ranges::{RANGE_FUNCTION, range_function};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::{BallistaError, Result};
use ballista_core::extension::SessionConfigExt;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use bitonic_datafusion::BitonicSort;
use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Executors ask for work. Where the scheduler brings it, Ballista 55.0 forgets the cores of tasks that it cancels when another executor
/// is lost, and never uses them again: with one core for each executor, the job would wait for ever.
const POLICY: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// How a scheduler is started.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// The address that it listens on.
    pub bind: String,
    /// The name by which executors reach it.
    pub host: String,
    /// The port that it listens on.
    pub port: u16,
    /// After so many seconds without a sign of life, an executor is given up and its work is repeated elsewhere. Busy ones give
    /// one every 5 seconds.
    pub executor_timeout: u64,
}

/// How an executor is started.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The scheduler's host.
    pub scheduler_host: String,
    /// The scheduler's port.
    pub scheduler_port: u16,
    /// The address that it listens on.
    pub bind: String,
    /// The name by which others reach it; without one, the address that the scheduler sees.
    pub host: Option<String>,
    /// The port where other executors fetch what it shuffled.
    pub port: u16,
    /// How many partitions it works on at a time.
    pub cores: usize,
    /// Bytes of memory for sorts and shuffles, all cores together. What does not fit is spilled.
    pub memory: u64,
    /// Where shuffled and spilled data lies.
    pub folder: PathBuf,
}

/// The session in which the scheduler plans a query: `ORDER BY` is sorted by bitonic on the executors, and merged as ever.
///
/// Ballista's adaptive planner has a fixed list of optimizer rules and takes no others, so it is switched off.
///
/// # Errors
/// Those of Ballista's own session.
pub fn scheduler_session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let state = default_session_builder(config.with_ballista_adaptive_query_planner(false))?;
    let mut state = SessionStateBuilder::new_from_existing(state)
        .with_physical_optimizer_rule(Arc::new(BitonicSort::new().without_merges()))
        .build();
    state.register_udf(Arc::new(range_function()))?;
    Ok(state)
}

/// Runs a scheduler until the process ends.
///
/// # Errors
/// The address is wrong or taken.
pub async fn scheduler(scheduler: Scheduler) -> Result<()> {
    let address = format!("{}:{}", scheduler.bind, scheduler.port);
    let address = address.parse().map_err(|error: std::net::AddrParseError| {
        BallistaError::Configuration(format!("{address} is no address such as 127.0.0.1:50050: {error}"))
    })?;
    let config = SchedulerConfig {
        bind_host: scheduler.bind,
        external_host: scheduler.host,
        bind_port: scheduler.port,
        scheduling_policy: POLICY,
        executor_timeout_seconds: scheduler.executor_timeout,
        expire_dead_executor_interval_seconds: (scheduler.executor_timeout / 4).max(1),
        no_executors_grace_period_seconds: scheduler.executor_timeout,
        override_session_builder: Some(Arc::new(scheduler_session)),
        override_physical_codec: Some(Arc::new(BitonicCodec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, address, Arc::new(config)).await
}

/// Runs an executor until the process is told to end.
///
/// # Errors
/// The scheduler cannot be reached, a port is taken, or the folder cannot be made.
pub async fn executor(executor: Executor) -> Result<()> {
    let folder = executor.folder.display().to_string();
    std::fs::create_dir_all(&executor.folder).map_err(|error| {
        BallistaError::Configuration(format!(
            "{folder}: {error}. Give --folder a place where this executor may write."
        ))
    })?;
    let mut functions = BallistaFunctionRegistry::default();
    functions.scalar_functions.insert(RANGE_FUNCTION.into(), Arc::new(range_function()));
    let config = ExecutorProcessConfig {
        bind_host: executor.bind,
        external_host: executor.host,
        port: executor.port,
        scheduler_host: executor.scheduler_host,
        scheduler_port: executor.scheduler_port,
        scheduler_connect_timeout_seconds: 30,
        task_scheduling_policy: POLICY,
        vcores: executor.cores,
        memory_pool_size: Some(executor.memory),
        work_dir: Some(folder),
        override_function_registry: Some(Arc::new(functions)),
        override_physical_codec: Some(Arc::new(BitonicCodec::default())),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}

/// Messages go to standard error, with the time in front. `RUST_LOG` says which.
pub fn log_to_stderr() {
    let filter = env_logger::Env::default().default_filter_or("info");
    let mut logger = env_logger::Builder::from_env(filter);
    logger.format(|line, record| {
        let time = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%S%.3fZ");
        writeln!(line, "{time} {:5} {}: {}", record.level(), record.target(), record.args())
    });
    logger.init();
}
