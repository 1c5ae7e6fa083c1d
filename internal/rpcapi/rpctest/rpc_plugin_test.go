// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/rpcapi/stacksplugin"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/proto/stacksproto1"
	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// TestRPCPlugin runs "cairn stacks" with this program as the plugin.
func TestRPCPlugin(t *testing.T) {
	t.Run("X-07 results", testPluginResults)
	t.Run("X-07 services", testPluginServices)
	t.Run("X-07 not started", testPluginNotStarted)
	t.Run("X-07 platform", testPluginPlatform)
	t.Run("X-07 interrupt", testPluginInterrupt)
}

// pluginConfig has a platform that is asked for nothing.
const pluginConfig = `
host "platform.example.com" {
  services = { "tfe.v2" = "https://api.example.com/api/v2/" }
}
host "other.example.com" {
  services = { "tfe.v2" = "https://other.example.com/v2" }
}
credentials "platform.example.com" {
  token = "secret-of-the-platform"
}
`

// stacksCommand returns "cairn stacks" with the arguments, in a directory of its own.
func stacksCommand(t *testing.T, args ...string) (cmd *exec.Cmd, stdout, stderr *syncBuffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.tfrc")
	if err := os.WriteFile(config, []byte(pluginConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(program, append([]string{"stacks"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+config, stacksplugin.OverrideVariable+"="+self)
	stdout, stderr = &syncBuffer{}, &syncBuffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// exitCode runs a command and returns its exit code.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func testPluginResults(t *testing.T) {
	for name, test := range map[string]struct {
		code           int
		stdout, stderr string // the latter: something in it
	}{
		"output":  {99, "one\ntwo\n", "aside"},
		"success": {0, "", ""},
		"fails":   {1, "", "it does not want to"},
		"breaks":  {1, "one\n", "it cannot go on"},
		"ends":    {1, "one\n", "without an exit code"},
		"3000":    {255, "", ""},
		"below 0": {255, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stdout, stderr := stacksCommand(t, name, "-json", "--", "-h")
			if code := exitCode(t, cmd); code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, stderr.String())
			}
			if stdout.String() != test.stdout || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("got output %q and %q, want %q and %q", stdout.String(), stderr.String(), test.stdout, test.stderr)
			}
		})
	}
}

func testPluginServices(t *testing.T) {
	cmd, stdout, stderr := stacksCommand(t, "services")
	cmd.Dir = writeFiles(t,
		"-- stack/main.tfcomponent.hcl --\ncomponent \"network\" {\n  source = \"./network\"\n}\n-- stack/network/main.tf --\n")
	writeBundle(t, filepath.Join(cmd.Dir, "bundle"))
	if code := exitCode(t, cmd); code != 0 {
		t.Errorf("got exit code %d: %s", code, stderr.String())
	}
	if got, want := stdout.String(), "component network\nno versions of an invalid address\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func testPluginNotStarted(t *testing.T) {
	for name, program := range map[string]string{"missing": "/does/not/exist", "directory": t.TempDir(), "not a plugin": "/bin/true"} {
		cmd, stdout, stderr := stacksCommand(t, "success")
		cmd.Env = append(cmd.Env, stacksplugin.OverrideVariable+"="+program)
		if code := exitCode(t, cmd); code != stacksplugin.ExitNotStarted || stdout.String() != "" || !strings.Contains(stderr.String(), program) {
			t.Errorf("%s: got exit code %d and %q", name, code, stderr.String())
		}
	}

	cmd, _, stderr := stacksCommand(t, "-plugin-cache-dir=plugins", "output", "-plugin-cache-dir=x")
	self, err := os.Executable()
	dir := filepath.Join(cmd.Dir, "plugins", "bin", runtime.GOOS+"_"+runtime.GOARCH)
	if err := errors.Join(err, os.MkdirAll(dir, 0o700), os.Symlink(self, filepath.Join(dir, "tfstacks"))); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, stacksplugin.OverrideVariable+"=")
	if code := exitCode(t, cmd); code != 99 {
		t.Errorf("from the cache: got exit code %d: %s", code, stderr.String())
	}
}

func testPluginPlatform(t *testing.T) {
	for name, test := range map[string]struct {
		env          []string
		code         int
		want, stderr string
	}{
		"the only one": {nil, 0, "address=https://api.example.com base-path=/api/v2/ display-hostname=platform.example.com " +
			"organization= project= stack= token=secret-of-the-platform", ""},
		"by variables": {
			[]string{
				"TF_CLOUD_HOSTNAME=platform.example.com", "TF_STACKS_HOSTNAME=other.example.com", "TF_STACKS_TOKEN=t",
				"TF_STACKS_ORGANIZATION_NAME=o", "TF_STACKS_PROJECT_NAME=p", "TF_STACKS_STACK_NAME=s",
			},
			0, "address=https://other.example.com base-path=/v2/ display-hostname=other.example.com organization=o project=p stack=s token=t", "",
		},
		"several":  {[]string{"TF_TOKEN_other_example_com=t"}, stacksplugin.ExitNotStarted, "", "other.example.com, platform.example.com"},
		"bad name": {[]string{"TF_STACKS_HOSTNAME=a b"}, stacksplugin.ExitNotStarted, "", "not a host name"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, stdout, stderr := stacksCommand(t, "platform")
			cmd.Env = append(cmd.Env, test.env...)
			if code := exitCode(t, cmd); code != test.code || strings.TrimSpace(stdout.String()) != test.want ||
				!strings.Contains(strings.Join(strings.Fields(stderr.String()), " "), test.stderr) {
				t.Errorf("got exit code %d, %q and %q", code, stdout.String(), stderr.String())
			}
		})
	}
}

func testPluginInterrupt(t *testing.T) {
	cmd, stdout, stderr := stacksCommand(t, "wait")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it has ended, usually
	testenv.Within(t, "the plugin waits", func() { stdout.waitFor("waiting") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	testenv.Within(t, "the command has ended", func() { _ = cmd.Wait() })
	if code := cmd.ProcessState.ExitCode(); code != stacksplugin.ExitFailed || !strings.Contains(stderr.String(), "canceled") {
		t.Errorf("got exit code %d: %s", code, stderr.String())
	}
}

// servePlugin is this program as a plugin.
func servePlugin() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: stacksplugin.Handshake,
		Plugins:         plugin.PluginSet{stacksplugin.Name: pluginServer{}},
		GRPCServer:      plugin.DefaultGRPCServer,
	})
}

type pluginServer struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements [plugin.GRPCPlugin].
func (pluginServer) GRPCServer(broker *plugin.GRPCBroker, server *grpc.Server) error {
	stacksproto1.RegisterCommandServiceServer(server, &commands{broker: broker})
	return nil
}

// GRPCClient implements [plugin.GRPCPlugin].
func (pluginServer) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a server")
}

// commands are the commands of the plugin, by its first argument.
type commands struct {
	stacksproto1.UnimplementedCommandServiceServer
	broker *plugin.GRPCBroker
}

// Execute implements the service.
func (c *commands) Execute(req *stacksproto1.CommandRequest, stream grpc.ServerStreamingServer[stacksproto1.CommandResponse]) error {
	out := func(text string) error {
		return stream.Send(&stacksproto1.CommandResponse{Data: &stacksproto1.CommandResponse_Stdout{Stdout: []byte(text)}})
	}
	exit := func(code int32) error {
		return stream.Send(&stacksproto1.CommandResponse{Data: &stacksproto1.CommandResponse_ExitCode{ExitCode: code}})
	}
	switch what := req.GetArgs()[0]; what {
	case "output":
		aside := &stacksproto1.CommandResponse{Data: &stacksproto1.CommandResponse_Stderr{Stderr: []byte("aside")}}
		return errors.Join(out("one\n"), stream.Send(aside), out("two\n"), exit(99))
	case "success":
		if !slices.Equal(req.GetArgs(), []string{"success", "-json", "--", "-h"}) {
			return exit(2)
		}
		return exit(0)
	case "fails":
		return status.Error(codes.FailedPrecondition, "it does not want to")
	case "breaks":
		return errors.Join(out("one\n"), status.Error(codes.Aborted, "it cannot go on"))
	case "ends":
		return out("one\n")
	case "3000":
		return exit(3000)
	case "below 0":
		return exit(-1)
	case "platform":
		return errors.Join(out(platformOf(stream.Context())), exit(0))
	case "services":
		text, err := c.services(stream.Context(), req)
		if err != nil {
			return err
		}
		return errors.Join(out(text), exit(0))
	case "wait":
		if err := out("waiting\n"); err != nil {
			return err
		}
		<-stream.Context().Done()
		return stream.Context().Err()
	default:
		return fmt.Errorf("unknown command %q", what)
	}
}

// platformOf returns the platform that the call names.
func platformOf(ctx context.Context) string {
	given, _ := metadata.FromIncomingContext(ctx)
	var said []string
	for name, values := range given {
		if name, ok := strings.CutPrefix(name, "tfc-"); ok {
			said = append(said, name+"="+strings.Join(values, ","))
		}
	}
	slices.Sort(said)
	if len(given["terraform-binary-path"]) != 1 || len(given["terminal-width"]) != 1 {
		said = append(said, "without paths")
	}
	return strings.Join(said, " ") + "\n"
}

// services calls each of the services.
func (c *commands) services(ctx context.Context, req *stacksproto1.CommandRequest) (string, error) {
	var conns [3]*grpc.ClientConn
	for i, id := range []uint32{req.GetDependenciesServer(), req.GetPackagesServer(), req.GetStacksServer()} {
		var err error
		if conns[i], err = c.broker.Dial(id); err != nil {
			return "", err
		}
	}
	bundle, err := dependenciespb.NewDependenciesClient(conns[0]).OpenSourceBundle(ctx,
		&dependenciespb.OpenSourceBundle_Request{LocalPath: "bundle"})
	if err != nil {
		return "", fmt.Errorf("dependencies: %w", err)
	}
	stacks := stackspb.NewStacksClient(conns[2])
	opened, err := stacks.OpenStackConfiguration(ctx, &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle.GetSourceBundleHandle(), SourceAddress: &terraform1.SourceAddress{Source: "./stack"},
	})
	if err != nil {
		return "", fmt.Errorf("stacks: %w", err)
	}
	found, err := stacks.FindStackConfigurationComponents(ctx,
		&stackspb.FindStackConfigurationComponents_Request{StackConfigHandle: opened.GetStackConfigHandle()})
	if err != nil {
		return "", fmt.Errorf("stacks: %w", err)
	}
	var text strings.Builder
	for name := range found.GetConfig().GetComponents() {
		fmt.Fprintf(&text, "component %s\n", name)
	}
	versions, err := packagespb.NewPackagesClient(conns[1]).ProviderPackageVersions(ctx,
		&packagespb.ProviderPackageVersions_Request{SourceAddr: "not an address"})
	if status.Code(err) == codes.InvalidArgument || len(versions.GetDiagnostics()) > 0 {
		text.WriteString("no versions of an invalid address\n")
	}
	return text.String(), nil
}
