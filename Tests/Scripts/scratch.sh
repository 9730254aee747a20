#!/bin/sh
# Prints where tests may put their databases: memory where 2 GB of it are free, else the usual temporary folder.
if [ -w /dev/shm ] && df -Pk /dev/shm | awk 'NR == 2 { exit !($4 > 2000000) }'; then
    echo /dev/shm
else
    echo "${TMPDIR:-/tmp}"
fi
