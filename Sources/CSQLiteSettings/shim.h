#include <sqlite3.h>

/// Swift cannot call a function with a variable number of arguments.
static inline int csqlite_memstatus(int enabled) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, enabled); }
