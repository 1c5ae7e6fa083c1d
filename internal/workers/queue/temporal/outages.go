// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package temporal

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// outages tell when the cluster is away, by the requests that fail. Those of the SDK are repeated
// within it, for more than a minute, before it says so.
type outages struct {
	place string
	tell  func(queue.Outage)

	denied  chan struct{} // closed when the cluster gives this program no tasks
	denying sync.Once
	denial  error // why; set before denied is closed

	mu struct {
		sync.Mutex
		since time.Time // the first request that has failed; zero if the last one has not
		told  bool
	}
}

// grace is the time within which a cluster may be away untold, as one does that changes its node.
const grace = 2 * time.Second

// intercept is a [grpc.UnaryClientInterceptor].
func (o *outages) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn,
	invoker grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	err := invoker(ctx, method, req, reply, cc, opts...)
	switch status.Code(err) {
	case codes.Unavailable:
		o.failed(reason(err))
	case codes.DeadlineExceeded, codes.Canceled: // of this program, perhaps
	default:
		o.answered()
	}
	// The worker of the SDK would ask forever, and say nothing.
	if status.Code(err) == codes.PermissionDenied && method == workflowservice.WorkflowService_PollActivityTaskQueue_FullMethodName {
		o.denying.Do(func() {
			o.denial = serviceerror.FromStatus(status.Convert(err))
			close(o.denied)
		})
	}
	return err
}

func (o *outages) failed(reason string) {
	o.mu.Lock()
	if o.mu.since.IsZero() {
		o.mu.since = time.Now()
	}
	tells := !o.mu.told && time.Since(o.mu.since) >= grace
	o.mu.told = o.mu.told || tells
	since := o.mu.since
	o.mu.Unlock()
	if tells {
		o.tell(queue.Outage{Place: o.place, Since: since, Reason: reason})
	}
}

// layers are the beginnings of the texts of errors that name only what of the connection has
// failed.
var layers = regexp.MustCompile(`^(last (connection|resolver) error: |connection error: |desc = |transport: |` +
	`authentication handshake failed: |[Ee]rror while dialing:? |error reading server preface: |remote error: )|^dial tcp \S+: (connect: )?|"$`)

// reason returns what has become of the connection for the error of a request: grpc has that in its
// text, in several layers of quotes.
func reason(err error) string {
	text := status.Convert(err).Message()
	if _, last, ok := strings.Cut(text, "latest connection error: "); ok {
		text = last
	}
	for {
		rest := strings.TrimPrefix(layers.ReplaceAllString(text, ""), `"`)
		if rest == text {
			break
		}
		text = rest
	}
	switch {
	case text == "EOF", strings.HasSuffix(text, "broken pipe"), strings.HasSuffix(text, "connection reset by peer"):
		return "it ends the connection, as one does that is for clients with certificates"
	case text == "no children to pick from":
		return "its name has no address"
	}
	return strings.TrimSuffix(strings.ReplaceAll(text, `\"`, `"`), ".")
}

func (o *outages) answered() {
	o.mu.Lock()
	tells, since := o.mu.told, o.mu.since
	o.mu.told, o.mu.since = false, time.Time{}
	o.mu.Unlock()
	if tells {
		o.tell(queue.Outage{Place: o.place, Since: since, Over: true})
	}
}
