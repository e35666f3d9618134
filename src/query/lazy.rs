//! Lazy: tables that are made when a query first names them.
//!
//! In: names, each with a way to make its table. Out: a schema in which they stand beside those that are there already.
//! A run has some eighty derived tables, each built on others: whoever asks for one waits for that and what it reads.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider};
use datafusion::datasource::TableProvider;
use datafusion::error::DataFusionError;
use futures::future::BoxFuture;
use tokio::sync::OnceCell;

use crate::Result;

/// Makes a table.
type Make = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn TableProvider>>> + Send + Sync>;

/// The tables of a session.
#[derive(Debug, Default)]
pub(super) struct LazySchema {
    there: MemorySchemaProvider,
    waiting: RwLock<HashMap<String, Arc<Waiting>>>,
}

struct Waiting {
    make: Make,
    made: OnceCell<Arc<dyn TableProvider>>,
}

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waiting({})", if self.made.initialized() { "made" } else { "not made" })
    }
}

impl LazySchema {
    /// Names a table that `make` makes when it is asked for, in place of one that had the name.
    pub(super) fn wait_with(&self, name: &str, make: Make) -> Result<(), DataFusionError> {
        self.there.deregister_table(name)?;
        let waiting = Waiting { make, made: OnceCell::new() };
        self.waiting.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_string(), Arc::new(waiting));
        Ok(())
    }

    /// The tables that are there or were made.
    pub(super) async fn made(&self) -> Vec<Arc<dyn TableProvider>> {
        let mut all: Vec<Arc<dyn TableProvider>> = Vec::new();
        for name in self.there.table_names() {
            all.extend(self.there.table(&name).await.ok().flatten());
        }
        let waiting = self.waiting.read().unwrap_or_else(PoisonError::into_inner);
        all.extend(waiting.values().filter_map(|waiting| waiting.made.get()).map(Arc::clone));
        all
    }

    fn waiting(&self, name: &str) -> Option<Arc<Waiting>> {
        self.waiting.read().unwrap_or_else(PoisonError::into_inner).get(name).map(Arc::clone)
    }
}

#[async_trait]
impl SchemaProvider for LazySchema {
    fn table_names(&self) -> Vec<String> {
        let waiting = self.waiting.read().unwrap_or_else(PoisonError::into_inner);
        self.there.table_names().into_iter().chain(waiting.keys().cloned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let Some(waiting) = self.waiting(name) else { return self.there.table(name).await };
        let made = waiting.made.get_or_try_init(|| (waiting.make)()).await;
        made.map(|table| Some(Arc::clone(table))).map_err(|e| DataFusionError::External(Box::new(e)))
    }

    fn register_table(
        &self,
        name: String,
        table: Arc<dyn TableProvider>,
    ) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        self.there.register_table(name, table)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let waiting = self.waiting.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        let there = self.there.deregister_table(name)?;
        Ok(there.or_else(|| waiting.and_then(|waiting| waiting.made.get().map(Arc::clone))))
    }

    fn table_exist(&self, name: &str) -> bool {
        self.there.table_exist(name) || self.waiting(name).is_some()
    }
}
