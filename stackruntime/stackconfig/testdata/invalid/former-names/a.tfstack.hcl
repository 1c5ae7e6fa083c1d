this is not even read {
