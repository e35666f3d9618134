//! Rows: a result as it comes.
//!
//! In: a planned query. Out: its record batches one after the other; no more than a few are held at a time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;
use futures::channel::mpsc::{Receiver, channel};
use futures::task::AtomicWaker;
use futures::{FutureExt, SinkExt, StreamExt};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::fault::failed_at;
use super::session::{Session, broke_off};
use super::statement::Statement;
use super::types::without_views;
use crate::{Error, Result};

/// Batches that wait for their reader.
const WAITING: usize = 2;

/// Asks a running query to end: from another thread, as that of a Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    shared: Arc<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    asked: AtomicBool,
    waker: AtomicWaker,
}

impl Stop {
    /// Ends the query that runs now, with [`Error::Interrupted`]; gives whether that was asked for before. The work
    /// behind it ends at its next pause: a join of everything with everything may take a while to reach one.
    pub fn ask(&self) -> bool {
        let before = self.shared.asked.swap(true, Ordering::SeqCst);
        self.shared.waker.wake();
        before
    }

    /// Lets the work between two queries end as well.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where it was asked for.
    pub fn check(&self) -> Result<()> {
        if self.shared.asked.load(Ordering::SeqCst) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Forgets that it was asked for, before the next query.
    pub fn clear(&self) {
        self.shared.asked.store(false, Ordering::SeqCst);
    }
}

/// The rows of one query. Dropped early, the query ends.
#[derive(Debug)]
pub struct Rows<'s> {
    session: &'s Session,
    schema: SchemaRef,
    batches: Receiver<Result<RecordBatch>>,
    stop: Stop,
    task: JoinHandle<()>,
}

impl<'s> Rows<'s> {
    /// Reads `stream` on the threads of `runtime`.
    pub(super) fn new(
        session: &'s Session,
        runtime: &Runtime,
        schema: SchemaRef,
        mut stream: SendableRecordBatchStream,
        from: (Statement, SessionContext),
    ) -> Self {
        let (mut sender, batches) = channel(WAITING);
        let task = runtime.spawn(async move {
            let (statement, ctx) = from;
            let forward = async {
                while let Some(batch) = stream.next().await {
                    let batch = batch.and_then(|batch| without_views(&batch));
                    let batch = batch.map_err(|e| failed_at(&e, &statement, &ctx));
                    let ends = batch.is_err();
                    // Without a reader there is nothing left to do.
                    if sender.send(batch).await.is_err() || ends {
                        break;
                    }
                }
            };
            if let Err(panic) = AssertUnwindSafe(forward).catch_unwind().await {
                let _ = sender.send(Err(broke_off(&*panic))).await;
            }
        });
        Rows { session, schema, batches, stop: Stop::default(), task }
    }

    /// The columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Lets `stop` end it.
    #[must_use]
    pub fn with_stop(mut self, stop: &Stop) -> Self {
        self.stop = stop.clone();
        self
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let (batches, stop) = (&mut self.batches, &self.stop.shared);
        let next = wait(|context| {
            stop.waker.register(context.waker());
            if stop.asked.load(Ordering::SeqCst) {
                return Poll::Ready(Some(Err(Error::Interrupted)));
            }
            batches.poll_next_unpin(context)
        });
        next.map(|batch| batch.map_err(|e| self.session.blame(e)))
    }
}

/// Polls until there is an answer, and sleeps in between. The `block_on` of futures panics inside another one, and the
/// caller may be in one.
fn wait<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Arc::new(Sleeper(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match poll(&mut context) {
            Poll::Ready(answer) => return answer,
            // Returns at once where it was woken since the poll.
            Poll::Pending => thread::park(),
        }
    }
}

/// The thread that waits.
struct Sleeper(Thread);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        // A query that gives no rows would not notice that nobody waits for them.
        self.task.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_parts_and_can_be_left() {
        let session = Session::new(Some(2)).unwrap();
        let endless = Statement::from("select a.value from generate_series(1, 2000000000) as a");
        let mut rows = session.rows(&endless).unwrap();
        assert_eq!(rows.schema().field(0).name(), "value");
        let first = rows.next().unwrap().unwrap();
        assert!(first.num_rows() > 0 && first.num_rows() < 100_000);
        drop(rows);
        let few = session.rows(&Statement::from("select 1 as x where false")).unwrap();
        assert_eq!(few.schema().fields().len(), 1);
        assert_eq!(few.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 0);
    }

    #[test]
    fn a_stop_ends_a_query_that_gives_no_rows() {
        let session = Session::new(Some(2)).unwrap();
        let stop = Stop::default();
        let long = Statement::from("select count(*) from generate_series(1, 1000000000000)");
        let mut rows = session.rows(&long).unwrap().with_stop(&stop);
        let asker = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            asker.ask();
        });
        assert!(matches!(rows.next(), Some(Err(Error::Interrupted))));
        drop(rows);
        stop.clear();
        let one = session.rows(&Statement::from("select 1")).unwrap().with_stop(&stop);
        assert_eq!(one.count(), 1);
    }
}
