#ifndef CPAGES_H
#define CPAGES_H

/// A file of the pages: its path below `Sources/Pages`, or `Docs/` and its path below the repository, and its bytes.
struct cpages_file {
    const char *_Nonnull path;
    const unsigned char *_Nonnull bytes;
    unsigned long count;
};

/// Returns the file with an index from 0; null after the last one.
const struct cpages_file *_Nullable cpages_file_at(unsigned long index);

#endif
