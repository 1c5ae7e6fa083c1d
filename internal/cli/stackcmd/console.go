// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/views"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// console evaluates expressions against the state.
type console struct {
	*session.Session
	inspection *operation.Inspection
}

// ConsoleCommand returns the command that evaluates expressions.
func ConsoleCommand() *session.Command {
	var values variableFlags
	var expression, stack, planFile string
	return &session.Command{
		Name:    "console",
		Summary: "Evaluates expressions against the state, or a saved plan.",
		Long: `
Knows everything that expressions of the configuration know: var.x, local.x, component.x.output, stack.x.output, and
all functions. Values are those of the last apply; variables have the values of the last apply unless others are given.
With -plan, values are as planned, where those known after apply are unknown.

Reads expressions from standard input, one a line; brackets that are open continue it on the next line.`,
		Example: "cairn console\ncairn console -e 'component.network.subnet_ids'\ncairn console -plan=FILE\n" +
			"echo 'keys(component.service)' | cairn console",
		Flags: func(f *session.Flags) {
			values.register(f)
			f.StringVar(&expression, "e", "", "evaluate this `EXPRESSION` and end")
			f.StringVar(&planFile, "plan", "", "evaluate against the values planned in this `FILE`")
			f.StringVar(&stack, "stack", "", "evaluate in the embedded stack with this `ADDRESS`")
			session.StateFlags(f)
			session.ProviderFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			s.ChangesNothing = true
			c, diags := openConsole(ctx, s, values.arguments, stack, planFile)
			if diags.HasErrors() {
				return s.Finish(diags)
			}
			if err := s.Report(diags); err != nil {
				return 0, err
			}
			switch {
			case expression != "":
				return c.evaluateOnce(ctx, expression)
			case s.InputIsTerminal() && session.IsTerminal(s.Streams.Out):
				return c.converse(ctx)
			default:
				return c.readLines(ctx)
			}
		},
	}
}

func openConsole(
	ctx context.Context, s *session.Session, arguments []variables.Argument, stack, planFile string,
) (*console, hcl.Diagnostics) {
	at, err := stackaddrs.ParseStackInstance(stack)
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Invalid stack address",
			"The option -stack needs the address of an embedded stack, like stack.network or stack.region[\"eu\"], and not %q.", stack)}
	}
	req := operation.InspectRequest{Stack: at, Variables: arguments}
	if planFile != "" {
		if req.Plan, _, err = s.Stack().ReadPlan(ctx, planFile); err != nil {
			return nil, operation.Diagnostics(err)
		}
	}
	inspection, diags := s.Stack().Inspect(ctx, req)
	return &console{s, inspection}, diags
}

func (c *console) evaluateOnce(ctx context.Context, source string) (int, error) {
	value, diags := c.inspection.Eval(ctx, source)
	if !diags.HasErrors() {
		c.Print("%s\n", views.FormatValue(value))
	}
	return c.Finish(diags)
}

// readLines evaluates the lines of a pipe or a file, until the first error.
func (c *console) readLines(ctx context.Context) (int, error) {
	lines := bufio.NewReader(c.Streams.In)
	var pending string
	for {
		line, err := lines.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		pending += line
		ended := errors.Is(err, io.EOF)
		if strings.TrimSpace(pending) != "" && (ended || !isOpen(pending)) {
			if isExit(pending) {
				return cmdline.ExitOK, nil
			}
			if status, err := c.evaluateOnce(ctx, pending); status != cmdline.ExitOK || err != nil {
				return status, err
			}
			pending = ""
		}
		if ended {
			return cmdline.ExitOK, nil
		}
	}
}

func isExit(line string) bool {
	line = strings.TrimSpace(line)
	return line == "exit" || line == "quit"
}

// isOpen reports whether an expression goes on in the next line: a bracket, a template or a heredoc
// is open.
func isOpen(source string) bool {
	//nolint:errcheck // the parser reports mistakes
	tokens, _ := hclsyntax.LexExpression([]byte(source), operation.ExpressionFile, hcl.InitialPos)
	depth := 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
			hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCHeredoc:
			depth--
		}
	}
	return depth > 0
}
