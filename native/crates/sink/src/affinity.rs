//! On which processors a writer runs.

use std::io;

use crate::Fault;

/// Returns an error for the first of the writers' processors that no thread can be bound to.
pub(crate) fn check(processors: &[usize], writers: usize) -> Result<(), Fault> {
    if processors.is_empty() {
        return Ok(());
    }
    // The calling thread stays where it may run now.
    std::thread::scope(|scope| {
        let trial = std::thread::Builder::new()
            .spawn_scoped(scope, || {
                let mut used = processors.iter().take(writers);
                used.try_for_each(|&one| bind(one))
            })
            .map_err(Fault::during("start a thread"))?;
        trial
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Binds the calling thread, of writer `index`, to its processor, and returns a note that says where it runs; `None` if
/// it may run anywhere.
pub(crate) fn place(processors: &[usize], index: usize) -> Result<Option<String>, Fault> {
    if processors.is_empty() {
        return Ok(None);
    }
    let requested = processors[index % processors.len()];
    bind(requested)?;
    Ok(Some(match current() {
        Some((processor, node)) => {
            format!("writer {index} runs on processor {processor} of memory node {node}")
        }
        None => format!(
            "writer {index} was bound to processor {requested}; the kernel does not report where it runs"
        ),
    }))
}

/// Binds the calling thread to `processor`.
fn bind(processor: usize) -> Result<(), Fault> {
    try_bind(processor).map_err(|error| {
        Fault::Unavailable(format!("cannot run on processor {processor}: {error}"))
    })
}

fn try_bind(processor: usize) -> io::Result<()> {
    let most = usize::try_from(libc::CPU_SETSIZE).unwrap_or(0);
    if processor >= most {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: `cpu_set_t` is a plain array of integers, for which all zeros is a valid value.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the number is below the size of the set.
    unsafe { libc::CPU_SET(processor, &mut set) };
    // SAFETY: the pointer is valid for the size given and lives across the call.
    let failed = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    if failed != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Processor and memory node on which the calling thread runs right now.
fn current() -> Option<(u32, u32)> {
    let (mut processor, mut node) = (0_u32, 0_u32);
    // SAFETY: two pointers to integers that live across the call; the third argument is unused.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_getcpu,
            &raw mut processor,
            &raw mut node,
            std::ptr::null_mut::<libc::c_void>(),
        )
    };
    (failed == 0).then_some((processor, node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_without_a_writer_are_not_tested() {
        let (processor, _) = current().unwrap();
        let processors = [processor as usize, usize::MAX];
        check(&processors, 1).unwrap();
        check(&processors, 2).unwrap_err();
    }
}
