// SPDX-License-Identifier: Apache-2.0
//! Regions of Rayon, for rayon_runtime.hpp. Rayon's counterpart of a region is `broadcast`: a closure
//! that every thread of a pool runs once.

use std::ffi::c_void;
use std::mem::size_of;
use std::thread::JoinHandle;

use rayon_core::{ThreadPool, ThreadPoolBuilder};

/// `tutti_checksum` of harness/checksum.h.
#[repr(C, align(8))]
pub struct Checksum {
    weight: f64,
    episodes: f64,
    first_total: f64,
    last_total: f64,
    seen: [[f64; 2]; 2],
    input: *mut f64,
    output: *mut f64,
    width: u64,
    apart: [u8; 128 - 8 * 8 - 3 * 8],
}
const _: () = assert!(size_of::<Checksum>() == 128);

impl Checksum {
    fn enter(&mut self) {
        self.episodes += 1.0;
    }
    fn next(&mut self) -> f64 {
        self.episodes += 1.0;
        self.episodes * self.weight
    }
    fn collect(&mut self, first: f64, last: f64) {
        self.first_total += first;
        self.last_total += last;
    }
}

/// An array with a checksum for each thread of the pool, which touches no other's.
#[derive(Clone, Copy)]
struct Checksums(*mut Checksum);
unsafe impl Send for Checksums {}
unsafe impl Sync for Checksums {}

impl Checksums {
    /// Safety: the caller is the thread of this index, and the array is that long.
    unsafe fn of<'a>(self, index: usize) -> &'a mut Checksum {
        unsafe { &mut *self.0.add(index) }
    }
}

pub struct Pool {
    threads: ThreadPool,
    handles: Vec<JoinHandle<()>>,
}

impl Pool {
    fn repeat(&self, outside: bool, count: u64, region: impl Fn() + Sync) {
        let all = || (0..count).for_each(|_| region());
        if outside {
            all();
        } else {
            self.threads.install(all);
        }
    }
}

/// Null: Rayon could not start so many threads.
#[no_mangle]
pub extern "C" fn tutti_rayon_new(threads: u32) -> *mut Pool {
    let mut handles = Vec::new();
    let built = ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .spawn_handler(|thread| {
            handles.push(std::thread::Builder::new().spawn(|| thread.run())?);
            Ok(())
        })
        .build();
    match built {
        Ok(threads) => Box::into_raw(Box::new(Pool { threads, handles })),
        Err(_) => std::ptr::null_mut(),
    }
}

/// Returns when the threads have ended: none looks for work beside what is measured next.
///
/// Safety: `pool` is of tutti_rayon_new(), and nobody uses it any more.
#[no_mangle]
pub unsafe extern "C" fn tutti_rayon_end(pool: *mut Pool) {
    let Pool { threads, handles } = *unsafe { Box::from_raw(pool) };
    drop(threads);
    for handle in handles {
        let _ = handle.join();
    }
}

/// A pointer of the caller's, who answers for what is done with it elsewhere.
#[derive(Clone, Copy)]
struct Context(*mut c_void);
unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Context {
    fn pointer(self) -> *mut c_void {
        self.0
    }
}

/// One region: `call(context, index)` once on each thread.
///
/// Safety: `pool` is of tutti_rayon_new(); `call` may be called by several threads at once.
#[no_mangle]
pub unsafe extern "C" fn tutti_rayon_open(
    pool: *const Pool,
    call: extern "C" fn(*mut c_void, u32),
    context: *mut c_void,
) {
    let context = Context(context);
    unsafe { &*pool }
        .threads
        .broadcast(|thread| call(context.pointer(), thread.index() as u32));
}

/// Runs `work(context)` on a thread of the pool.
///
/// Safety: `pool` is of tutti_rayon_new(); `work` may be called by another thread.
#[no_mangle]
pub unsafe extern "C" fn tutti_rayon_install(
    pool: *const Pool,
    work: extern "C" fn(*mut c_void),
    context: *mut c_void,
) {
    let context = Context(context);
    unsafe { &*pool }
        .threads
        .install(|| work(context.pointer()));
}

/// `count` regions back to back. `outside`: opened by the caller, which is no thread of the pool and
/// sleeps in each region beside as many threads as a region has. Otherwise by a thread of the pool,
/// which takes part: a program inside `install`.
///
/// Safety: `sums` has one for each thread of the pool.
#[no_mangle]
pub unsafe extern "C" fn tutti_rayon_regions(
    pool: *const Pool,
    outside: bool,
    count: u64,
    sums: *mut Checksum,
) {
    let pool = unsafe { &*pool };
    let sums = Checksums(sums);
    pool.repeat(outside, count, || {
        pool.threads
            .broadcast(|thread| unsafe { sums.of(thread.index()) }.enter());
    });
}

/// The same, and in each the sum of everybody's two doubles, which sums[0] collects.
///
/// Safety: as of tutti_rayon_regions().
#[no_mangle]
pub unsafe extern "C" fn tutti_rayon_reducing_regions(
    pool: *const Pool,
    outside: bool,
    count: u64,
    sums: *mut Checksum,
) {
    let pool = unsafe { &*pool };
    let sums = Checksums(sums);
    pool.repeat(outside, count, || {
        let parts = pool.threads.broadcast(|thread| {
            let checksum = unsafe { sums.of(thread.index()) };
            (checksum.next(), checksum.weight)
        });
        let add = |sum: (f64, f64), part: &(f64, f64)| (sum.0 + part.0, sum.1 + part.1);
        let (first, last) = parts.iter().fold((0.0, 0.0), add);
        unsafe { sums.of(0) }.collect(first, last);
    });
}
