// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Command terraform-provider-fake serves the provider of package testprovider to Terraform.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/cairnstacks/cairn/internal/testprovider"
)

func main() {
	if msg := os.Getenv("CAIRN_FAKE_START_ERROR"); msg != "" {
		fmt.Fprintln(os.Stderr, msg)
		os.Exit(1)
	}
	if delay, err := time.ParseDuration(os.Getenv("CAIRN_FAKE_START_DELAY")); err == nil {
		time.Sleep(delay) //nolint:forbidigo // the user has asked for it
	}
	if err := testprovider.RecordDescriptors(); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-fake:", err)
		os.Exit(1)
	}
	if err := testprovider.Serve(); err != nil {
		fmt.Fprintln(os.Stderr, "terraform-provider-fake:", err)
		os.Exit(1)
	}
}
