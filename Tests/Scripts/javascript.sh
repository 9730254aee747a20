#!/bin/sh
# Tests the browser's modules: node's own test runner, and tsc over every module and the types written by hand.
set -eu
cd "$(dirname "$0")/../.."
# Any node from 20 on will do; Debian's where there is none.
command -v node >/dev/null 2>&1 || sh Tests/Scripts/install.sh nodejs
command -v tsc >/dev/null 2>&1 || sh Tests/Scripts/install.sh node-typescript
node --test Tests/JavaScript/
tsc -p Tests/JavaScript/tsconfig.json
echo "javascript: tests and types are right"
