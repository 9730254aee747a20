#include <sqlite3.h>

/// Swift cannot call a function with a variable number of arguments.
static inline int csqlite_memstatus(int enabled) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, enabled); }

/// Keeps the plan of a statement when its parameters are bound. Returns SQLite's result code.
static inline int csqlite_keep_plans(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_QPSG, 1, (int *)0);
}
