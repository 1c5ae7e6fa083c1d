#!/bin/sh
# Asks the app of an environment where it is to be found.
set -eu
endpoint=$("${CAIRN:-cairn}" -chdir="live/$ENVIRONMENT/app" output -raw endpoint)
test "$endpoint" = "https://$ENVIRONMENT-app.example.com"
echo "$endpoint is there"
