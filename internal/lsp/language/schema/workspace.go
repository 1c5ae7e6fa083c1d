// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schema

import "slices"

func list(name, doc string) Argument {
	return Argument{Name: name, Type: "list of names, paths, tags or patterns", Scope: Names, Doc: doc}
}

var everywhere = []Argument{
	{Name: "description", Type: "string", Doc: "The purpose, for people."},
	{Name: "tags", Type: "list of strings", Doc: "Words by which blocks are selected, and by which others name them: \"tag:WORD\"."},
	{
		Name: "keys",
		Type: "list of strings",
		Doc:  "Resources that only so many may use at the same time as the limits of the workspace say, or one.",
	},
	{
		Name:  "order",
		Type:  "number, \"first\" or \"last\"",
		Words: []string{`"first"`, `"last"`},
		Doc:   "Decides between blocks that no rule orders. Without it, 0.",
	},
	list("wants", "Stacks and tasks that are selected whenever this is. It does not order anything."),
	list("wanted_by", "Stacks and tasks that select this whenever they are selected themselves. It does not order anything."),
	list("after", "Stacks and tasks that must be done first."),
	list("after_any", "Of these, one success is enough to go on; all must have ended."),
	list("before", "Stacks and tasks that must wait until this is done."),
	list("require", "The same as after."),
	list("requires", "The same as after."),
	list("require_any", "The same as after_any."),
	list("require_in", "The same as before."),
	list("required_for", "The same as before."),
}

var ofApplied = []Argument{
	list("plan_after", "Stacks and tasks that must be applied before this is planned."),
	list("plan_after_any", "Before this is planned, all of these must have ended, and one must have been applied."),
	list("apply_after", "Stacks and tasks that must be applied before this is applied."),
	list("apply_after_any", "Before this is applied, all of these must have ended, and one must have been applied."),
	list("modified_by", "This counts as modified if one of these does, and is planned after them."),
	list("modified_by_outputs", "This counts as modified if the outputs of one of these change, and is planned after them."),
	{
		Name:  "auto_apply",
		Type:  "bool",
		Scope: Bool,
		Doc:   "Whether changes are applied without asking. That of an outer group takes precedence.",
	},
}

var variables = []Argument{
	{
		Name: "variables",
		Type: "map of strings",
		Map:  true,
		Doc:  "Values of input variables. Those of a member take precedence over those of its groups.",
	},
	{
		Name: "environment",
		Type: "map of strings",
		Map:  true,
		Doc:  "Environment variables. Those of a member take precedence over those of its groups.",
	},
}

// Workspace are the blocks of workspace files.
var Workspace = []Block{
	{
		Type: "stack", Labels: []string{"name"},
		Doc: "A stack, or a plain root module, in a directory of the repository.",
		Arguments: slices.Concat([]Argument{
			{
				Name:  "path",
				Type:  "string",
				Scope: Directory,
				Doc:   "The directory, from the top of the repository. Without it, the name of the stack is the directory.",
			},
			{
				Name:  "kind",
				Type:  "string",
				Words: []string{`"stack"`, `"terraform"`},
				Doc:   "Whether there is a stack or a plain root module in the directory. Without it, its files decide.",
			},
			{Name: "deployment", Type: "string", Doc: "Which deployment of the stack this is. Each has a state of its own."},
			{Name: "workspace", Type: "string", Doc: "Which workspace of a plain root module this is."},
			{Name: "var_files", Type: "list of paths", Doc: "Files with values of input variables, from the top of the repository."},
			{
				Name: "inputs",
				Type: "map of values",
				Map:  true,
				Doc:  "Values of input variables that other stacks have, as stack.NAME.output.OUTPUT. The stack comes after these.",
			},
			{
				Name: "files",
				Type: "list of patterns",
				Doc:  "The stack has changed if a file that one of these matches has, instead of any file in its directory.",
			},
			{Name: "watch", Type: "list of patterns", Doc: "Files elsewhere: if one that one of these matches has changed, the stack has, too."},
		}, variables, everywhere, ofApplied),
	},
	{
		Type: "group", Labels: []string{"name"},
		Doc: "Other blocks under one name. It passes its rules, tags, keys, variables, environment and order on to them.",
		Arguments: slices.Concat([]Argument{
			{
				Name:     "members",
				Required: true,
				Type:     "list of names, paths, tags or patterns",
				Scope:    Names,
				Doc:      "The stacks, tasks and other groups that belong to it.",
			},
		}, variables, everywhere, ofApplied),
		Blocks: []Block{{
			Type: "strategy", Once: true, Doc: "How many members run at the same time.",
			Arguments: []Argument{
				{Name: "parallel", Type: "number", Doc: "How many at most."},
				{Name: "one_by_one", Type: "bool", Scope: Bool, Doc: "Whether one at a time."},
			},
		}},
	},
	{
		Type: "task", Labels: []string{"name"},
		Doc: "A command before, between or after stacks. Tasks run only in an apply.",
		Arguments: slices.Concat([]Argument{
			{Name: "command", Required: true, Type: "string, or list of strings", Doc: "A line for the shell, or a program and its arguments."},
			{Name: "on_change", Type: "string, or list of strings", Doc: "A command that runs after the first if something in watch has changed."},
			{Name: "path", Type: "string", Scope: Directory, Doc: "The directory in which it runs. Without it, the top of the repository."},
			{Name: "timeout", Type: "duration", Doc: "The time, such as \"5m\", after which the command is ended with all that it has started."},
			{Name: "retries", Type: "number", Doc: "How often the command runs again after a failure."},
			{Name: "interval", Type: "duration", Doc: "The time, such as \"10s\", between a failure and the next try."},
			{Name: "environment", Type: "map of strings", Map: true, Doc: "Environment variables of the command."},
			{
				Name:  "stage",
				Type:  "string",
				Words: []string{`"pre"`, `"post"`},
				Doc:   "Puts the task before or after all stacks. A number behind a slash orders tasks: \"post/100\".",
			},
			list("watch", "Runs after these; then on_change runs if one of them has changed."),
			list("watch_any", "As watch, but one success is enough to go on."),
			list("watch_in", "The tasks that watch this one."),
			list("prereq", "Runs before these, between plan and apply, if one of them would change something."),
			list("prereq_in", "The tasks that run before this one if it would change something."),
			list("onchanges", "Runs if one of these has changed and none has failed."),
			list("onchanges_any", "Runs if one of these has changed, even if others have failed."),
			list("onchanges_in", "The tasks that run if this one has changed something."),
			list("onfail", "Runs if one of these has failed, or was skipped because of a failure."),
			list("onfail_all", "Runs if all of these have failed."),
			list("onfail_in", "The tasks that run if this one has failed."),
			list("listen", "Runs at the end of everything else if one of these has changed."),
			list("listen_in", "The tasks that run at the end if this one has changed something."),
		}, everywhere),
	},
	{
		Type: "locals",
		Doc:  "Names for values that inputs of several stacks are made of, as local.NAME. Each argument is one of them.",
	},
	{
		Type: "upstream", Labels: []string{"source"},
		Doc: "Where the stack is kept that upstream_input blocks of deployment files name by this address.",
		Arguments: []Argument{
			{Name: "stack", Type: "string", Scope: Directory, Doc: "The directory of the stack, seen from the root of the repository."},
			{Name: "state", Type: "string", Doc: "The location of its state, in place of its directory."},
		},
	},
	{
		Type: "workers", Labels: []string{"kind"}, Once: true,
		Doc: "The workers that do the work of runs on other machines: their queue, the records of runs, and the pools. The kind is \"temporal\".",
		Arguments: []Argument{
			{Name: "address", Required: true, Type: "string", Doc: "HOST:PORT of Temporal."},
			{Name: "namespace", Type: "string", Doc: "The namespace of the queues. Without it, \"cairn\"."},
			{
				Name:     "records",
				Required: true,
				Type:     "string",
				Doc:      "The location of what runs keep, on object storage, in PostgreSQL or in a directory that all machines share.",
			},
			{Name: "trusted", Required: true, Type: "string", Doc: "The public key of those who may start work, which workers trust."},
		},
		Blocks: []Block{
			{
				Type: "tls", Once: true, Doc: "Files of the connection to Temporal. Without the block, it is not encrypted.",
				Arguments: []Argument{
					{Name: "cert", Type: "path", Doc: "The certificate of this machine."},
					{Name: "key", Type: "path", Doc: "The key of the certificate."},
					{Name: "ca", Type: "path", Doc: "The certificates that sign that of the server. Without it, those of the system."},
					{Name: "server_name", Type: "string", Doc: "The name in the certificate of the server, if it is not that of the address."},
				},
			},
			{
				Type: "pool", Labels: []string{"name"},
				Doc: "Workers with one key. The first pool that fits does the work, and otherwise the one with the name \"default\".",
				Arguments: []Argument{
					{Name: "recipient", Required: true, Type: "string", Doc: "The public key of the pool."},
					{Name: "deployments", Type: "list of patterns", Doc: "The deployments whose work it does."},
					{Name: "tags", Type: "list of strings", Doc: "It does the work on stacks and tasks with one of these tags."},
					{Name: "namespace", Type: "string", Doc: "The namespace of its queue, in place of that of the block."},
				},
			},
		},
	},
	{
		Type: "workspace", Once: true,
		Doc: "Settings for all blocks of the file.",
		Arguments: []Argument{
			{Name: "parallel", Type: "number", Doc: "How many stacks and tasks run at the same time at most."},
			{
				Name: "limits",
				Type: "map of numbers",
				Map:  true,
				Doc:  "How many of those with a key run at the same time at most. A key that is missing here allows one.",
			},
			{Name: "files", Type: "list of patterns", Doc: "The files of all stacks that have none of their own."},
			{Name: "ties", Type: "string", Words: []string{`"name"`, `"directory"`}, Doc: "The sort key of blocks that no rule orders."},
		},
	},
}
