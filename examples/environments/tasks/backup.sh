#!/bin/sh
# Keeps the state of the database as it was.
set -eu
mkdir -p backup
"${CAIRN:-cairn}" -chdir=live/prod/database state pull >backup/prod-database.json
echo "kept backup/prod-database.json"
