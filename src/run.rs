//! Run: carries out a plan.
