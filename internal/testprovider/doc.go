// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package testprovider is a provider for tests: it manages small JSON files in place of real
// infrastructure, and on demand it behaves as real providers do on bad days.
//
// Its address is registry.terraform.io/cairnstacks/fake, its local name "fake". The binary in
// cmd/terraform-provider-fake serves it over plugin protocol 6, or 5 if the environment says so;
// tests get that binary through a filesystem mirror from package testenv. Over protocol 5 there are
// no nested attributes.
//
// # Provider configuration
//
// All arguments are optional.
//
//   - region (string): kept in every object, so that a test can see which configuration made it.
//   - token (string, sensitive).
//   - store (string): the directory of the objects; without it, the environment variable
//     CAIRN_FAKE_STORE. With neither, objects live in Terraform's state only.
//   - authentication (string, sensitive), require_auth (bool): with require_auth, configuring
//     fails unless authentication is [ExpectedAuthentication].
//   - configure_error (string): configuring fails with this message.
//   - region, and name in single_block and list_block: [Refused] is an error there, of region when
//     the provider is configured, of a name when its configuration is validated; [Outdated] as
//     region is a warning then.
//   - panic_on (string): the process panics in this phase: configure, or for any type of
//     resource one of the phases listed for fake_failing.
//   - ignored, string (string), number, bool, list, set, map (of strings), object (name string,
//     size number): read by nobody, only recorded.
//   - nested blocks single_block, list_block (which nests list_block inner), set_block: each with
//     name and value.
//
// # Managed resources
//
// All have id (optional, computed: unknown until created unless set; a change replaces) and value
// (optional; [Refused] is an error, [Outdated] a warning when it is validated, as for id of
// fake_data and name of fake_ephemeral). Creating an object whose id is taken fails.
//
//   - fake_resource: nothing more.
//   - fake_computed: replace_on (a change replaces); result (computed: value, unknown until applied
//     whenever value changes, null when that is); revision (computed: 1 when created, one more
//     after each update); region (computed: the provider's; a change replaces).
//   - fake_everything: string, number, bool, list, set, map, object, tuple, dynamic, secret
//     (sensitive); nested attributes nested_single, nested_list, nested_set, nested_map; nested
//     blocks single_block, list_block, set_block; and for each of string, number, bool, list, set,
//     map, object a computed_NAME that repeats it, unknown until applied whenever it changes.
//   - fake_slow: plan_delay, read_delay, create_delay, update_delay, delete_delay (durations such
//     as "50ms"); plan_gate, read_gate, create_gate, update_gate, delete_gate (paths: the
//     operation creates PATH.reached and goes on once PATH exists); ignore_stop (bool: keep
//     waiting when Terraform asks to stop, and create PATH.stopped then).
//   - fake_failing: fail_plan, fail_read, fail_apply (before anything is done), fail_after_create
//     (the object exists, and Terraform taints it), fail_delete (bools); panic_on (string: plan,
//     read, create, update or delete); warn (string: planning warns with this message).
//   - fake_scripted: plan_value (string: planned in place of value), plan_unknown (bool: value is
//     planned as unknown), plan_replace (string: an attribute that requires replacement, whether it
//     has changed or exists, or not), plan_prefix (string: value is planned as unknown, with this
//     beginning), private (string: the provider's private data), apply_value (string: value after
//     applying), apply_null (bool: applying answers with no object), apply_error (string: applying
//     answers with the object and this error), delete_error (string: deleting answers with this
//     error), delete_keeps (bool: deleting answers with the object), legacy (bool: says that it
//     keeps to none of the rules for plans). Its schema has version 2; in version 0, value was
//     old_value.
//   - fake_nested: nested attributes single, list, set and map, and nested blocks single_block,
//     list_block, set_block, map_block and group_block, each with a block inner of its own kind;
//     everywhere inside name, and made (computed: unknown until applied).
//   - fake_aging: deprecated parts: nick, note (without a message), blocks part with port and a
//     deprecated number, and deprecated blocks scrap with port.
//   - fake_blocked: required_resources (set of ids): creating and deleting fail unless objects with
//     all those ids exist.
//   - fake_deferred: deferred (required bool): planning it as true or unknown is deferred when the
//     client allows that and [DeferralVariable] is set; result (computed: value) is then unknown in
//     any case. Accepts a move from fake_resource.
//   - fake_file: filename (required; a change replaces): the file that has value as its content,
//     for reading, too, where there is no store. Relative names lead from where the process works,
//     here and below.
//   - fake_upload: source (a file that must be there when the object is created or changed).
//   - fake_identity: has a resource identity with the attribute id.
//   - fake_writeonly: secret (write-only), secret_version (number; a change updates).
//
// # Everything else
//
//   - Data source fake_data: id (required), value and region (computed). Fails if no such object
//     exists.
//   - Data sources about files, each with result: fake_content (filename), fake_archive (source_dir
//     or source_file; output_path, which it writes), fake_external (program), fake_chart (chart, a
//     directory with templates).
//   - Ephemeral resource fake_ephemeral: name (optional), value (computed, "ephemeral-NAME"),
//     renew_after (a duration), fail_open (bool).
//   - Action fake_action: value ([Refused] is an error), secret (sensitive), progress (list of
//     strings: its messages before anything else), defer (planning it is deferred as if the
//     provider's configuration was not known), fail_plan, fail_invoke (bools), invoke_delay,
//     invoke_gate and panic_on (invoke), as for fake_slow and fake_failing.
//   - List resource fake_identity: finds the stored objects of that type, sorted by id, beyond any
//     limit; prefix (of the ids; as value of resources), warn (string: a warning with this message
//     comes first), fail_list (bool: it fails after the last object), list_delay, list_gate and
//     panic_on (list), as for fake_slow and fake_failing.
//   - Function echo(value): its argument, of whatever type.
//
// # Rules
//
//  1. While part of the provider's configuration is unknown, nothing is read or applied: such a
//     request is deferred where the client allows it and fails otherwise. Planning works.
//  2. Objects change only by this provider's requests and by tests through [Store]. Changes of a
//     test there are drift, found by the next read.
//  3. With CAIRN_FAKE_CALLS set to a path, every request is recorded there before it is
//     served; see [Call]. With CAIRN_FAKE_CALL_VALUES, the values in it are recorded as well.
//  4. With CAIRN_FAKE_PROTOCOL set to 5, version 5 of the protocol is spoken.
//  5. With CAIRN_FAKE_IDS set to a directory, ids of new objects are made of their values, and are
//     the same in each run.
//  6. With CAIRN_FAKE_START_ERROR set, the binary prints its value and ends before any handshake.
//     With CAIRN_FAKE_START_DELAY set to a duration, it waits so long before it does anything.
package testprovider
