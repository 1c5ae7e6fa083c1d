// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/durable"
	planv1 "github.com/cairnstacks/cairn/proto/cairn/plan/v1"
	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

func resourceAddr(t testing.TB, text string) stackaddrs.ResourceInstance {
	t.Helper()
	addr, err := stackaddrs.ParseResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func actionAddr(t testing.TB, text string) stackaddrs.ActionInstance {
	t.Helper()
	addr, err := stackaddrs.ParsePartialActionInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func stored(t testing.TB, v cty.Value) *valuev1.DynamicValue {
	t.Helper()
	encoded, err := storedvalue.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func examplePlan(t testing.TB) (*Plan, FileContext) {
	t.Helper()
	eu := stackaddrs.RootStackInstance.Child("region", stackaddrs.StringKey("eu"))
	anywhere := stackaddrs.RootStackInstance.Child("region", stackaddrs.WildcardKey)
	component := func(stack stackaddrs.StackInstance, name string) stackaddrs.AbsComponent {
		return stackaddrs.AbsComponent{Stack: stack, Item: stackaddrs.Component{Name: name}}
	}
	object := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	text := cty.StringVal
	change := &engine.Change{
		Addr: resourceAddr(t, `fake_thing.a["k"]`), PreviousAddr: resourceAddr(t, "fake_thing.a"),
		Provider: stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: "fake"}, Action: engine.ActionUpdate,
		Before: object(map[string]cty.Value{"size": cty.MustParseNumberVal("12345678901234567890"), "html": text("<&>"), "id": text("i")}),
		After: object(map[string]cty.Value{
			"size": cty.MustParseNumberVal("1.5"), "html": text("<&>").Mark(marks.Sensitive),
			"id": cty.UnknownVal(cty.String),
		}),
		Importing: &engine.Importing{ID: "x"},
	}
	kept := object(map[string]cty.Value{"tags": cty.MapVal(map[string]cty.Value{"a": text("b")}), "pw": text("p").Mark(marks.Sensitive)})
	same := &engine.Change{Addr: resourceAddr(t, "module.m[0].fake_thing.same"), Action: engine.ActionNoOp, Before: kept, After: kept}
	replaced := &engine.Change{
		Addr: resourceAddr(t, "data.fake_thing.b"), Deposed: "00000001", Action: engine.ActionCreateThenDelete,
		Reason: engine.ReplaceBecauseCannotUpdate,
		Before: object(map[string]cty.Value{"a": cty.TupleVal([]cty.Value{cty.True})}), After: cty.NullVal(cty.DynamicPseudoType),
		Replace: []cty.Path{cty.GetAttrPath("a").IndexInt(0), cty.GetAttrPath("b").IndexString("k")}, GeneratedConfig: "resource",
		Importing:      &engine.Importing{Identity: object(map[string]cty.Value{"id": text("i")}), Unknown: true},
		BeforeIdentity: object(map[string]cty.Value{"id": text("i")}), AfterIdentity: cty.NullVal(cty.DynamicPseudoType),
	}
	many := &engine.Change{Addr: stackaddrs.ResourceInstance{Module: stackaddrs.RootModuleInstance.Child("m", stackaddrs.WildcardKey)}}
	trigger := engine.Trigger{Resource: change.Addr, Event: engine.AfterUpdate, Block: 1, Position: 2}
	plan := &Plan{
		Mode: engine.Normal, Applyable: true,
		Timestamp: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC),
		Engine:    engine.Info{Name: "terraform", Version: "1.11.4"},
		Inputs: map[string]*InputChange{
			"region": {Action: Update, Before: cty.StringVal("us"), After: cty.UnknownVal(cty.String).RefineNotNull()},
			"token":  {Action: Create, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.NullVal(cty.String), RequiredOnApply: true},
			"gone":   {Action: Delete, Before: cty.True, After: cty.NullVal(cty.Bool), DeleteOnApply: true},
		},
		Outputs: map[string]*OutputChange{
			"secret": {Action: Create, Before: cty.NullVal(cty.DynamicPseudoType), After: cty.ListVal([]cty.Value{
				cty.StringVal("a"), cty.UnknownVal(cty.String).Mark(marks.Sensitive),
			})},
		},
		Components: []*Component{
			{
				Addr: stackaddrs.InstanceOf(component(stackaddrs.RootStackInstance, "vpc"), stackaddrs.StringKey("a,b")), Source: "./vpc",
				Action: Update, Mode: engine.Normal, Applyable: true, Complete: true,
				Inputs:  map[string]cty.Value{"cidr": cty.DynamicVal.Mark(marks.Sensitive)},
				Outputs: map[string]cty.Value{},
				Changes: []*engine.Change{replaced, change, same},
				Drift:   []*engine.Change{change},
				Invocations: []*engine.Invocation{
					{
						Addr: actionAddr(t, "module.m[0].action.fake_do.x"), Provider: change.Provider, Trigger: trigger,
						Config: object(map[string]cty.Value{"a": cty.UnknownVal(cty.String)}),
					},
				},
				Checks: []engine.CheckResult{{Kind: engine.CheckOutput, Address: "output.x", Status: engine.CheckFail, Objects: []engine.CheckedObject{
					{Address: "output.x", Status: engine.CheckFail, Messages: []string{"It is wrong."}},
				}}},
				Engine:         engine.Info{Name: "native", Version: "0.1.0"},
				EnginePlan:     []byte("PK\x03\x04 what terraform wrote"),
				RefreshedState: engine.State(`{"version":4}`),
				BaseState:      engine.State(`{"version":4,"serial":2}`),
			},
			{
				Addr: stackaddrs.InstanceOf(component(anywhere, "app"), stackaddrs.WildcardKey), Source: "./app",
				Action: Create, Mode: engine.Normal, DeferredReason: "its instances are not known yet",
				Requires: []stackaddrs.AbsComponent{component(stackaddrs.RootStackInstance, "vpc"), component(anywhere, "db")},
				Inputs:   map[string]cty.Value{}, Outputs: map[string]cty.Value{"id": cty.UnknownVal(cty.Number)},
				Deferred: []engine.DeferredChange{{Reason: "deferred_prereq", Change: change}, {Reason: "instance_count_unknown", Change: many}},
				DeferredInvocations: []engine.DeferredInvocation{{
					Reason: "instance_count_unknown", Invocation: &engine.Invocation{
						Addr: actionAddr(t, "action.fake_do.x[*]"), Trigger: trigger,
						Config: cty.NilVal,
					},
				}},
			},
			{
				Addr: stackaddrs.InstanceOf(component(eu, "old"), stackaddrs.NoKey), Source: "./old",
				Action: Delete, Mode: engine.Destroy, Applyable: true, Complete: true,
				Inputs: map[string]cty.Value{}, Outputs: map[string]cty.Value{},
				Engine:     engine.Info{Name: "terraform", Version: "1.11.4"},
				EnginePlan: bytes.Repeat([]byte("compressible "), 100),
			},
		},
		Removed: []stackaddrs.AbsComponentInstance{stackaddrs.InstanceOf(component(eu, "empty"), stackaddrs.NoKey)},
		Moved: []stackaddrs.Rename{{
			From: stackaddrs.InstanceOf(component(stackaddrs.RootStackInstance, "former"), stackaddrs.NoKey),
			To:   stackaddrs.InstanceOf(component(eu, "old"), stackaddrs.NoKey),
		}},
	}
	// Wildcards come last in the order of addresses.
	plan.Components[1], plan.Components[2] = plan.Components[2], plan.Components[1]
	return plan, FileContext{
		CairnVersion: "0.1.0", ConfigHash: "abc", StateLineage: "l", StateSerial: 7, Deployment: "default", Stack: "git::x//stack",
		StateFile:   "/srv/net.db",
		ConfigFiles: ConfigFiles{"main.tfcomponent.hcl": {1, 2}, "m/main.tf": {3}},
	}
}

var comparePlans = cmp.Options{
	cmp.Comparer(func(a, b cty.Value) bool { return a.RawEquals(b) }),
	cmp.Comparer(func(a, b stackaddrs.AbsComponentInstance) bool { return a == b }),
	cmp.Comparer(func(a, b stackaddrs.ActionInstance) bool { return a == b }),
	cmp.Comparer(func(a, b stackaddrs.AbsComponent) bool { return a == b }),
	cmp.Comparer(func(a, b stackaddrs.ResourceInstance) bool { return a == b }),
	cmp.Comparer(cty.Path.Equals),
}

// ignoreIdentity is for contexts of which one was not read from a file.
var ignoreIdentity = cmpopts.IgnoreFields(FileContext{}, "Identity")

func encode(t testing.TB, p *Plan, file FileContext) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, p, file); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(raw []byte) (*Plan, FileContext, error) {
	return ReadFrom(bytes.NewReader(raw), int64(len(raw)))
}

func TestRow245PlanFileRoundTrip(t *testing.T) {
	want, wantFile := examplePlan(t)
	raw := encode(t, want, wantFile)
	got, gotFile, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparePlans); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if !cmp.Equal(gotFile, wantFile, ignoreIdentity) {
		t.Errorf("context: got %+v, want %+v", gotFile, wantFile)
	}
	if !bytes.Equal(encode(t, got, gotFile), raw) {
		t.Error("writing the plan again gives other bytes")
	}
}

func TestIdentity(t *testing.T) {
	identity := func(change func(*Plan, *FileContext)) string {
		t.Helper()
		p, file := examplePlan(t)
		change(p, &file)
		_, read, err := decode(encode(t, p, file))
		if err != nil {
			t.Fatal(err)
		}
		return read.Identity
	}
	same := identity(func(*Plan, *FileContext) {})
	if same == "" || same != identity(func(*Plan, *FileContext) {}) {
		t.Errorf("the identity of one plan is %q, and later another one", same)
	}
	for name, change := range map[string]func(*Plan, *FileContext){
		"engine plan": func(p *Plan, _ *FileContext) { p.Components[0].EnginePlan = []byte("another") },
		"mode":        func(p *Plan, _ *FileContext) { p.Mode = engine.Destroy },
		"serial":      func(_ *Plan, file *FileContext) { file.StateSerial++ },
	} {
		if identity(change) == same {
			t.Errorf("a plan with another %s has the same identity", name)
		}
	}
}

func TestEqualPlansAreEqualFiles(t *testing.T) {
	p, file := examplePlan(t)
	raw := encode(t, p, file)
	for range 10 {
		p, file := examplePlan(t)
		p.Components[0], p.Components[2] = p.Components[2], p.Components[0]
		if !bytes.Equal(encode(t, p, file), raw) {
			t.Fatal("the bytes differ between two times of writing")
		}
	}
}

func TestEmptyPlan(t *testing.T) {
	want := &Plan{Inputs: map[string]*InputChange{}, Outputs: map[string]*OutputChange{}}
	got, _, err := decode(encode(t, want, FileContext{}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, comparePlans); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// Whatever single byte is changed, the file is refused or the plan is the same:
// some bytes of the archive, such as file times, mean nothing.
func TestAlteredFilesAreRefused(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	want, file := examplePlan(t)
	raw := encode(t, want, file)
	refused := 0
	for i := range raw {
		altered := bytes.Clone(raw)
		altered[i] ^= 0x41
		got, gotFile, err := decode(altered)
		if err == nil {
			if diff := cmp.Diff(want, got, comparePlans); diff != "" || !cmp.Equal(gotFile, file, ignoreIdentity) {
				t.Errorf("byte %d altered: read without an error as another plan:\n%s", i, diff)
			}
			continue
		}
		refused++
		if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotPlan) {
			t.Errorf("byte %d altered: got error %v, want ErrDamaged or ErrNotPlan", i, err)
		}
	}
	if refused < len(raw)/2 {
		t.Errorf("only %d of %d alterations were refused", refused, len(raw))
	}
}

func TestTruncatedFilesAreRefused(t *testing.T) {
	p, file := examplePlan(t)
	raw := encode(t, p, file)
	for size := range raw {
		_, _, err := decode(raw[:size])
		want := ErrDamaged
		if size < 30+len(indexMember) {
			want = ErrNotPlan
		}
		if !errors.Is(err, want) {
			t.Fatalf("the first %d bytes: got error %v, want %v", size, err, want)
		}
	}
}

// zipOf makes an archive of names and contents.
func zipOf(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: members[i]})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, members[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withIndex makes a plan file with this index.
func withIndex(t testing.TB, index proto.Message, more ...string) []byte {
	t.Helper()
	raw, err := proto.Marshal(index)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	members := append([]string{indexMember, string(raw)}, more...)
	return zipOf(t, append(members, checksumMember, hex.EncodeToString(sum[:]))...)
}

func TestExtendedFilesAreRefused(t *testing.T) {
	p, file := examplePlan(t)
	raw := encode(t, p, file)
	for _, added := range []string{"x", "\x00", strings.Repeat("more ", 100)} {
		if _, _, err := decode(append(slices.Clone(raw), added...)); !errors.Is(err, ErrDamaged) {
			t.Errorf("a file with %d bytes added: got error %v, want ErrDamaged", len(added), err)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	component := func(c *planv1.Component) []byte {
		c.Mode = planv1.Mode_MODE_NORMAL
		return withIndex(t, &planv1.Plan{FormatVersion: FormatVersion, Mode: planv1.Mode_MODE_NORMAL, Components: []*planv1.Component{c}})
	}
	tests := map[string]struct {
		file []byte
		want error
	}{
		"empty":             {nil, ErrNotPlan},
		"text":              {[]byte("resource \"a\" \"b\" {}"), ErrNotPlan},
		"other zip":         {zipOf(t, "a.txt", "hello"), ErrNotPlan},
		"plan of terraform": {zipOf(t, "tfplan", "x", "tfstate", "y"), ErrNotPlan},
		"no checksum":       {zipOf(t, indexMember, "x"), ErrDamaged},
		"wrong checksum":    {zipOf(t, indexMember, "x", checksumMember, "00"), ErrDamaged},
		"member twice":      {zipOf(t, indexMember, "x", indexMember, "x", checksumMember, "00"), ErrDamaged},
		"member too many": {
			withIndex(t, &planv1.Plan{FormatVersion: FormatVersion, Mode: planv1.Mode_MODE_NORMAL}, "engine/0", "x"),
			ErrDamaged,
		},
		"no mode":                {withIndex(t, &planv1.Plan{FormatVersion: FormatVersion}), ErrDamaged},
		"bad address":            {component(&planv1.Component{Address: "not an address"}), ErrDamaged},
		"bad required component": {component(&planv1.Component{Address: "component.a", Requires: []string{`component.b["k"]`}}), ErrDamaged},
		"bad change":             {component(&planv1.Component{Address: "component.a", Changes: []*planv1.Change{{Address: "x"}}}), ErrDamaged},
		"no deferred change":     {component(&planv1.Component{Address: "component.a", Deferred: []*planv1.DeferredChange{{}}}), ErrDamaged},
		"bad value of a change": {component(&planv1.Component{Address: "component.a", Changes: []*planv1.Change{{
			Address: "a.b", Before: &valuev1.DynamicValue{Msgpack: []byte{0xc1}},
		}}}), ErrDamaged},
		"attributes of nothing": {component(&planv1.Component{
			Address: "component.a",
			Changes: []*planv1.Change{{Address: "a.b", AttributesOnly: true}},
		}), ErrDamaged},
		"creates nothing": {component(&planv1.Component{
			Address: "component.a",
			Changes: []*planv1.Change{{Address: "a.b", Creates: true}},
		}), ErrDamaged},
		"removes nothing": {component(&planv1.Component{
			Address: "component.a",
			Changes: []*planv1.Change{{Address: "a.b", Removes: true}},
		}), ErrDamaged},
		"a new attribute": {component(&planv1.Component{Address: "component.a", Changes: []*planv1.Change{{
			Address: "a.b", AttributesOnly: true, Before: stored(t, cty.EmptyObjectVal),
			After: stored(t, cty.ObjectVal(map[string]cty.Value{"x": cty.True})),
		}}}), ErrDamaged},
		"two engine plans": {component(&planv1.Component{
			Address: "component.a", Mode: planv1.Mode_MODE_NORMAL, EngineDetails: []byte("x"), EnginePlan: &planv1.Member{Name: "engine/0"},
		}), ErrDamaged},
		"missing engine plan": {component(&planv1.Component{Address: "component.a", EnginePlan: &planv1.Member{Name: "engine/0"}}), ErrDamaged},
		"foreign engine plan": {component(&planv1.Component{Address: "component.a", EnginePlan: &planv1.Member{Name: indexMember}}), ErrDamaged},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, _, err := decode(test.file)
			if !errors.Is(err, test.want) || p != nil {
				t.Errorf("ReadFrom = %v, %v, want the error %q", p, err, test.want)
			}
		})
	}
}

func TestOtherFormatsAreNamed(t *testing.T) {
	for _, other := range []uint32{FormatVersion - 1, FormatVersion + 1} {
		_, _, err := decode(withIndex(t, &planv1.FormatVersion{FormatVersion: other}))
		version, ok := errors.AsType[*VersionError](err)
		if !ok || version.FormatVersion != other {
			t.Errorf("got error %v, want a VersionError with %d", err, other)
		}
	}
}

func TestEphemeralValuesAreNotWritten(t *testing.T) {
	fleeting := cty.StringVal("x").Mark(marks.Ephemeral)
	for name, spoil := range map[string]func(*Plan){
		"input":            func(p *Plan) { p.Inputs["region"].After = fleeting },
		"output":           func(p *Plan) { p.Outputs["secret"].Before = fleeting },
		"component input":  func(p *Plan) { p.Components[0].Inputs["cidr"] = fleeting },
		"component output": func(p *Plan) { p.Components[0].Outputs["x"] = fleeting },
	} {
		t.Run(name, func(t *testing.T) {
			p, file := examplePlan(t)
			spoil(p)
			if _, err := Write(io.Discard, p, file); !errors.Is(err, storedvalue.ErrEphemeral) {
				t.Errorf("Write: got error %v, want %v", err, storedvalue.ErrEphemeral)
			}
		})
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "stack.plan")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	want, file := examplePlan(t)
	identity, err := WriteFile(path, want, file)
	if err != nil {
		t.Fatal(err)
	}
	got, made, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if identity == "" || made.Identity != identity {
		t.Errorf("the file was written as the plan %q, and read as %q", identity, made.Identity)
	}
	if diff := cmp.Diff(want, got, comparePlans); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: %v, %v, want 0600", info.Mode(), err)
	}
	assertFiles(t, dir, "stack.plan")
	if _, _, err := ReadFile(dir); !errors.Is(err, ErrNotPlan) {
		t.Errorf("reading a directory: got error %v, want %v", err, ErrNotPlan)
	}
}

func TestWriteFileThroughSymlink(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	p, file := examplePlan(t)
	if _, err := WriteFile(link, p, file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadFile(target); err != nil {
		t.Errorf("the target of the link was not written: %v", err)
	}
}

func TestFailedWriteLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "stack.plan")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	noSpace := errors.New("no space left on device")
	err := durable.Replace(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 2<<20)); err != nil {
			return err
		}
		return noSpace
	})
	if !errors.Is(err, noSpace) {
		t.Errorf("got error %v, want %v", err, noSpace)
	}
	if content, err := os.ReadFile(path); string(content) != "old" {
		t.Errorf("the old file holds %q now (%v)", content, err)
	}
	assertFiles(t, dir, "stack.plan")

	p, file := examplePlan(t)
	if _, err := WriteFile(filepath.Join(dir, "missing", "stack.plan"), p, file); err == nil {
		t.Error("no error for a directory that does not exist")
	}
}

func TestFullDevice(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	p, file := examplePlan(t)
	if _, err := WriteFile("/dev/full", p, file); err == nil {
		t.Error("writing to a full device gave no error")
	}
}

func assertFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the directory (-want +got):\n%s", diff)
	}
}

func FuzzReadFrom(f *testing.F) {
	p, file := examplePlan(f)
	f.Add(encode(f, p, file))
	f.Add(encode(f, &Plan{}, FileContext{}))
	f.Add(zipOf(f, "tfplan", "x"))
	f.Add(withIndex(f, &planv1.FormatVersion{FormatVersion: FormatVersion + 1}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, file, err := decode(raw)
		if err != nil {
			_, isVersion := errors.AsType[*VersionError](err)
			if !isVersion && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotPlan) {
				t.Errorf("untyped error: %v", err)
			}
			return
		}
		again, againFile, err := decode(encode(t, p, file))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if diff := cmp.Diff(p, again, comparePlans); diff != "" || !cmp.Equal(againFile, file, ignoreIdentity) {
			t.Errorf("plan after a round trip (-want +got):\n%s", diff)
		}
	})
}

// FuzzIndex gets past the checksums, which FuzzReadFrom hardly ever does.
func FuzzIndex(f *testing.F) {
	p, file := examplePlan(f)
	for _, c := range p.Components {
		c.EnginePlan = nil
	}
	index, _, err := encodePlan(p, file)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := proto.Marshal(index)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var index planv1.Plan
		if proto.Unmarshal(raw, &index) != nil {
			return
		}
		p, file, err := decodePlan(&index, func(*planv1.Member) ([]byte, error) { return nil, errors.New("none") })
		if err != nil {
			return
		}
		written := encode(t, p, file)
		again, againFile, err := decode(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		// Refinements that say nothing are not written, so the plans can differ in them.
		if !cmp.Equal(againFile, file, ignoreIdentity) || !bytes.Equal(encode(t, again, againFile), written) {
			t.Errorf("plan after a round trip (-want +got):\n%s", cmp.Diff(p, again, comparePlans))
		}
	})
}

func BenchmarkPlanFile(b *testing.B) {
	example, file := examplePlan(b)
	p := &Plan{Inputs: example.Inputs, Outputs: example.Outputs}
	for i := range 10000 {
		c := *example.Components[0]
		c.Changes = c.Drift
		c.Addr = stackaddrs.InstanceOf(stackaddrs.ComponentOf(c.Addr), stackaddrs.StringKey(fmt.Sprint(i)))
		p.Components = append(p.Components, &c)
	}
	raw := encode(b, p, file)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encode(b, p, file)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := decode(raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
