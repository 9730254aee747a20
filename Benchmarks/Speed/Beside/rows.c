// Writes the rows of many attaches with nothing around it: prepared statements, a transaction for each group.
//
// usage: rows DATABASE STATEMENTS COUNT GROUP
// STATEMENTS is a file of SQL statements, each with the number of the attach as its only parameter. Prints the seconds of
// CPU time that COUNT attaches took; the durability of a commit is the server's own (synchronous = FULL).
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { most_statements = 64 };

static sqlite3 *database;

static void check(int code) {
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
        fprintf(stderr, "rows: %s\n", sqlite3_errmsg(database));
        exit(1);
    }
}

static void run(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL)); }

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(1);
    long length = ftell(file);
    char *text = calloc(1, (size_t)length + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, (size_t)length, file) != (size_t)length) exit(1);
    fclose(file);
    return text;
}

static double cpu_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int attaches = atoi(arguments[3]), group = atoi(arguments[4]);
    check(sqlite3_open_v2(arguments[1], &database, SQLITE_OPEN_READWRITE, NULL));
    run("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;"
        "PRAGMA temp_store = MEMORY");
    sqlite3_stmt *statements[most_statements];
    int number = 0;
    const char *rest = read_file(arguments[2]);
    while (number < most_statements) {
        sqlite3_stmt *statement = NULL;
        check(sqlite3_prepare_v3(database, rest, -1, SQLITE_PREPARE_PERSISTENT, &statement, &rest));
        if (statement == NULL) break;
        statements[number++] = statement;
    }
    double before = cpu_seconds();
    for (int attach = 1; attach <= attaches; attach++) {
        if (attach % group == 1 || group == 1) run("BEGIN IMMEDIATE");
        for (int each = 0; each < number; each++) {
            check(sqlite3_bind_int64(statements[each], 1, attach));
            check(sqlite3_step(statements[each]));
            check(sqlite3_reset(statements[each]));
        }
        if (attach % group == 0 || attach == attaches) run("COMMIT");
    }
    printf("%f\n", cpu_seconds() - before);
    return 0;
}
