// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/objecttest"
	"github.com/cairnstacks/cairn/internal/testenv/postgrestest"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
)

// The pools.
const (
	defaultPool = "default"
	otherPool   = "other"
)

// Places of records.
const (
	inDirectory = "directory"
	inPostgres  = "postgres"
	inObjects   = "objects"
)

// clusterOptions say what a cluster is made of.
type clusterOptions struct {
	queue     string // a database of temporaltest; "postgres" for the server of the states
	records   string
	slots     int      // of each worker; 0 for the usual number
	delegates bool     // workers have the key to ask others
	environ   []string // of all programs, besides the usual one
}

// cluster has the servers, and the workers.
type cluster struct {
	*testing.T
	clusterOptions
	dir      string
	cli      string             // configuration of engines
	store    testprovider.Store // the objects that exist
	temporal *temporaltest.Server
	postgres *postgrestest.Server
	objects  *objecttest.Server // nil without
	pools    map[string]envelope.PoolRecipient
	trusted  envelope.RunPublic
	user     *place // of those who begin runs

	count   int // of workers
	workers []*worker

	mu      sync.Mutex
	began   time.Time
	history []string
}

// place is where a program runs: its ways to the servers, and its directories.
type place struct {
	name   string
	dir    string
	queue  *link
	stores []*link // of states and records
	env    []string
}

// worker is a worker, which may be dead.
type worker struct {
	*process
	*place
	pool string
	args []string // besides the usual ones
}

// newCluster starts the servers, and no workers yet.
func newCluster(t *testing.T, o clusterOptions) *cluster {
	t.Helper()
	dir := t.TempDir()
	c := &cluster{
		T: t, clusterOptions: o, dir: dir, store: testprovider.Store{Dir: filepath.Join(dir, "ledger")}, began: time.Now(),
		cli: testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t)), pools: map[string]envelope.PoolRecipient{},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.Join(c.history, "\n"))
		}
	})
	c.postgres = postgrestest.Start(t)
	database := o.queue
	if database == inPostgres {
		database = c.postgres.URL("")
		database = strings.Replace(database, "/"+postgrestest.Database, "/queue", 1)
	}
	c.temporal = temporaltest.Start(t, database)
	switch o.records {
	case inDirectory:
		if err := os.Mkdir(filepath.Join(dir, "records"), 0o700); err != nil {
			t.Fatal(err)
		}
	case inObjects:
		// Not gofakes3, whose answers may be wrong: they are memory of its database, which writers
		// use again.
		c.objects = objecttest.Start(t, objecttest.S3)
	}
	key, err := envelope.NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	c.trusted = key.Public()
	writeFile(t, c.keyFile("run"), key.Text())
	for _, pool := range []string{defaultPool, otherPool} {
		key, err := envelope.NewPoolKey()
		if err != nil {
			t.Fatal(err)
		}
		c.pools[pool] = envelope.PoolRecipient(key.Recipient())
		writeFile(t, c.keyFile(pool), key.Text())
	}
	c.user = c.newPlace("user")
	return c
}

func (c *cluster) keyFile(name string) string { return filepath.Join(c.dir, "keys", name+".key") }

// newPlace makes a place with ways of its own to the servers.
func (c *cluster) newPlace(name string) *place {
	p := &place{name: name, dir: filepath.Join(c.dir, name), queue: newLink(c, c.temporal.Address())}
	states := newLink(c, c.postgres.Address())
	p.stores = []*link{states}
	for _, dir := range []string{"tmp", "cache"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			c.Fatal(err)
		}
	}
	config := filepath.Join(p.dir, "workers.hcl")
	p.env = append(os.Environ(), mainVariable+"=1", "CHECKPOINT_DISABLE=1", "COLUMNS=1000", "TF_CLI_CONFIG_FILE="+c.cli, "CAIRN_ENGINE=native",
		"CAIRN_FAKE_STORE="+c.store.Dir, "TMPDIR="+filepath.Join(p.dir, "tmp"), "XDG_CACHE_HOME="+filepath.Join(p.dir, "cache"),
		"CAIRN_STATE="+c.postgres.Through(states.address(), ""), "CAIRN_WORKERS="+config)
	p.env = append(p.env, c.environ...)
	var records string
	switch c.records {
	case inDirectory:
		records = filepath.Join(c.dir, "records")
	case inPostgres:
		records = c.postgres.Through(states.address(), "records")
	case inObjects:
		way := newLink(c, c.objects.Address())
		p.stores = append(p.stores, way)
		access := c.objects.Through(way.address())
		records = access.Location
		for name, value := range access.Environ {
			p.env = append(p.env, name+"="+value)
		}
	}
	writeFile(c, config, fmt.Sprintf("workers \"temporal\" {\n  address = %q\n  records = %q\n  trusted = %q\n"+
		"  pool %q {\n    recipient = %q\n  }\n  pool %q {\n    recipient = %q\n    tags      = [%[6]q]\n  }\n}\n",
		p.queue.address(), records, c.trusted.String(), defaultPool, c.pools[defaultPool], otherPool, c.pools[otherPool]))
	return p
}

// addWorker starts one more worker of a pool.
func (c *cluster) addWorker(pool string, args ...string) *worker {
	c.count++
	w := &worker{place: c.newPlace(fmt.Sprintf("w%d-%s", c.count, pool)), pool: pool, args: args}
	c.workers = append(c.workers, w)
	c.begin(w)
	return w
}

// begin starts the process of a worker.
func (c *cluster) begin(w *worker) {
	args := []string{"worker", "-pool=" + w.pool, "-name=" + w.name}
	if c.slots > 0 {
		args = append(args, fmt.Sprintf("-slots=%d", c.slots))
	}
	env := []string{"CAIRN_POOL_KEY=" + c.keyFile(w.pool)}
	if c.delegates {
		env = append(env, "CAIRN_RUN_KEY="+c.keyFile("run"))
	}
	w.process = c.start(w.place, w.dir, append(args, w.args...), env...)
}

// alive returns the workers that run.
func (c *cluster) alive() []*worker {
	return slices.DeleteFunc(slices.Clone(c.workers), func(w *worker) bool { return w.hasEnded() })
}

// note adds to the history of the test.
func (c *cluster) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, fmt.Sprintf("%6.1fs ", time.Since(c.began).Seconds())+fmt.Sprintf(format, args...))
}

// process is a program that runs, or has ended.
type process struct {
	cmd   *exec.Cmd
	log   string // file with its output
	ended chan struct{}

	own      time.Duration // of the processor, once it has ended
	ownError error         // why own is not known
}

// start starts a program at a place, in a directory.
func (c *cluster) start(at *place, dir string, args []string, env ...string) *process {
	self, err := os.Executable()
	if err != nil {
		c.Fatal(err)
	}
	log, err := os.CreateTemp(at.dir, "log-*")
	if err != nil {
		c.Fatal(err)
	}
	defer log.Close() //nolint:errcheck // the process has its own
	p := &process{cmd: exec.CommandContext(context.WithoutCancel(c.Context()), self, args...), log: log.Name(), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append(slices.Clone(at.env), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = testenv.OwnProcessGroup()
	if err := p.cmd.Start(); err != nil {
		c.Fatal(err)
	}
	go func() { // ends with the process
		defer close(p.ended)
		p.own, p.ownError = ownTimeAtEnd(p.cmd.Process.Pid)
		_ = p.cmd.Wait() // its state has all
	}()
	c.Cleanup(func() {
		_ = p.signal(syscall.SIGKILL) // it may have ended
		<-p.ended
		// Providers end with the program that has started them, but not one that was stopped.
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // as above
	})
	return p
}

func (p *process) signal(signal syscall.Signal) error { return p.cmd.Process.Signal(signal) }

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// code returns the exit code of a process that has ended; -1 if it was killed.
func (p *process) code() int { return p.cmd.ProcessState.ExitCode() }

// output returns the output so far.
func (p *process) output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(p.log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer runs a command of the user to its end, and returns its standard output.
func (c *cluster) answer(dir string, args ...string) (string, error) {
	return c.answerWith(dir, nil, args...)
}

// answerWith is answer with more variables.
func (c *cluster) answerWith(dir string, env []string, args ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := testenv.Command(c, self, args...)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(c.user.env), "CAIRN_RUN_KEY="+c.keyFile("run"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s: exit code %d: %s", strings.Join(args, " "), exit.ExitCode(), exit.Stderr)
	}
	return string(out), err
}

// states returns the ids in the states of all stacks of a repository.
func (c *cluster) states(r *repository) map[string]bool {
	c.Helper()
	ids := map[string]bool{}
	var mu sync.Mutex
	var reading sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, dir := range r.states() {
		reading.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			shown, err := c.answer(dir, "show", "-json")
			var document struct {
				Components []struct {
					Resources []struct {
						Values struct{ ID string }
					}
				}
			}
			if err == nil {
				err = json.Unmarshal([]byte(shown), &document)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				c.Error(err)
			}
			for _, component := range document.Components {
				for _, resource := range component.Resources {
					ids[resource.Values.ID] = true
				}
			}
		})
	}
	reading.Wait()
	return ids
}

// check compares the existing objects with the states and with the wanted ones (rules W1 and W2).
func (c *cluster) check(r *repository, want []string) {
	c.Helper()
	state, made := c.states(r), objects(c, c.store)
	var have []string
	for id, address := range made {
		if !state[id] {
			c.Errorf("%s (%s) exists and is in no state, and nobody said so (rules W1 and W2)", address, id)
		}
		have = append(have, address)
	}
	for id := range state {
		if _, exists := made[id]; !exists {
			c.Errorf("%s is in a state and does not exist", id)
		}
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		c.Errorf("the existing objects are\n%s\nwant\n%s", strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}
