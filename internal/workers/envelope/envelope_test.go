// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package envelope

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/cairnstacks/cairn/internal/sealed"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const place = "runs/7/component.db/apply"

func newPool(t testing.TB) (PoolKey, PoolRecipient) {
	t.Helper()
	key, err := NewPoolKey()
	if err != nil {
		t.Fatal(err)
	}
	return key, PoolRecipient(key.Recipient())
}

func newRun(t testing.TB) RunKey {
	t.Helper()
	key, err := NewRunKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// random returns bytes that cannot be compressed.
func random(t testing.TB, size int) []byte {
	t.Helper()
	content := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{byte(testenv.Seed(t))}).Read(content); err != nil {
		t.Fatal(err)
	}
	return content
}

// wantProblem checks the error, and that nothing was returned with it.
func wantProblem(t *testing.T, what string, content []byte, err error, want ...Problem) {
	t.Helper()
	fault, ok := errors.AsType[*Error](err)
	if !ok || !slices.Contains(want, fault.Problem) || len(content) > 0 {
		t.Errorf("%s: got %d bytes and error %v, want the problem %q", what, len(content), err, want)
	}
}

func TestRoundTrip(t *testing.T) {
	pool, poolRecipient := newPool(t)
	other, otherRecipient := newPool(t)
	run := newRun(t)
	for name, content := range map[string][]byte{
		"empty": {}, "small": []byte("a content"), "large": bytes.Repeat([]byte("a content, "), 100_000),
		"large and random": random(t, 100_000), "larger than a window": append(bytes.Repeat(random(t, 5<<20), 2), 1),
		"least that is compressed": bytes.Repeat([]byte("a"), compressedFrom),
	} {
		t.Run(name, func(t *testing.T) {
			envelope, err := Seal(place, content, poolRecipient, otherRecipient, run.Public())
			if err != nil {
				t.Fatal(err)
			}
			if compressible := strings.HasPrefix(string(content), "a content, "); compressible && len(envelope) > len(content)/10 {
				t.Errorf("the envelope of %d bytes has %d", len(content), len(envelope))
			}
			result, err := pool.SealResult(place, content, run.Public())
			if err != nil {
				t.Fatal(err)
			}
			for reader, open := range map[string]func() ([]byte, error){
				"pool":       func() ([]byte, error) { return pool.Open(place, envelope) },
				"other pool": func() ([]byte, error) { return other.Open(place, envelope) },
				"run":        func() ([]byte, error) { return run.Open(place, envelope) },
				"result":     func() ([]byte, error) { return run.OpenResult(place, result, poolRecipient) },
			} {
				if got, err := open(); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: got %d bytes, error %v; want the %d of the content", reader, len(got), err, len(content))
				}
			}
		})
	}
}

// Whatever is not right is told apart (rule V5).
func TestRefused(t *testing.T) {
	pool, recipient := newPool(t)
	other, otherRecipient := newPool(t)
	run, otherRun := newRun(t), newRun(t)
	content := []byte("the content")
	envelope, err := Seal(place, content, recipient, run.Public())
	if err != nil {
		t.Fatal(err)
	}
	result, err := pool.SealResult(place, content, run.Public())
	if err != nil {
		t.Fatal(err)
	}
	resultOfOther, err := other.SealResult(place, content, run.Public())
	if err != nil {
		t.Fatal(err)
	}
	asResult, err := Seal(place, content, run.Public()) // by somebody who has no key
	if err != nil {
		t.Fatal(err)
	}
	file, _ := sealed.Open(plainKind, asResult)
	disguised := sealed.Seal(resultKind, file)
	// One who has a key, but not that of the pool, and says to be of the pool.
	_, strange := newPool(t)
	strangePoint, err := strange.point()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := other.opener.sharedWith(strangePoint)
	if err != nil {
		t.Fatal(err)
	}
	head, body, err := contents(resultKind, place, content)
	if err != nil {
		t.Fatal(err)
	}
	from := &pair{shared, pool.opener.scalar.PublicKey(), run.opener.scalar.PublicKey()}
	forged, err := wrap(resultKind, place, []Recipient{from}, head, body)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := wrap(resultKind, place, []Recipient{from, from}, head, body)
	if err != nil {
		t.Fatal(err)
	}
	file, _ = sealed.Open(resultKind, result)
	for name, c := range map[string]struct {
		open func() ([]byte, error)
		want Problem
	}{
		"wrong key":       {func() ([]byte, error) { return other.Open(place, envelope) }, ProblemKey},
		"wrong run key":   {func() ([]byte, error) { return otherRun.Open(place, envelope) }, ProblemKey},
		"wrong place":     {func() ([]byte, error) { return pool.Open(place+"/", envelope) }, ProblemPlace},
		"nothing":         {func() ([]byte, error) { return pool.Open(place, nil) }, ProblemFormat},
		"something else":  {func() ([]byte, error) { return pool.Open(place, content) }, ProblemFormat},
		"cut":             {func() ([]byte, error) { return pool.Open(place, envelope[:len(envelope)-1]) }, ProblemDamaged},
		"longer":          {func() ([]byte, error) { return pool.Open(place, append(slices.Clip(envelope), 0)) }, ProblemDamaged},
		"result as other": {func() ([]byte, error) { return run.Open(place, result) }, ProblemFormat},
		"result in disguise": {
			func() ([]byte, error) { return run.Open(place, sealed.Seal(plainKind, file)) }, ProblemKey,
		},
		"other as result":        {func() ([]byte, error) { return run.OpenResult(place, envelope, recipient) }, ProblemFormat},
		"other result":           {func() ([]byte, error) { return run.OpenResult(place, resultOfOther, recipient) }, ProblemSender},
		"result of another pool": {func() ([]byte, error) { return run.OpenResult(place, result, otherRecipient) }, ProblemSender},
		"result for others":      {func() ([]byte, error) { return otherRun.OpenResult(place, result, recipient) }, ProblemKey},
		"result in other place":  {func() ([]byte, error) { return run.OpenResult("runs/8/result", result, recipient) }, ProblemPlace},
		"other in disguise":      {func() ([]byte, error) { return run.OpenResult(place, disguised, recipient) }, ProblemSender},
		"forged result":          {func() ([]byte, error) { return run.OpenResult(place, forged, recipient) }, ProblemSender},
		"result for several":     {func() ([]byte, error) { return run.OpenResult(place, twice, recipient) }, ProblemSender},
	} {
		got, err := c.open()
		wantProblem(t, name, got, err, c.want)
		if err != nil {
			for _, secret := range []string{"the content", pool.Text(), other.Text(), run.Text(), otherRun.Text()} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s: the error shows a secret: %s", name, err)
				}
			}
		}
	}
}

// No bit can be changed, whether or not the checksum at the beginning is made anew.
func TestBitFlips(t *testing.T) {
	pool, recipient := newPool(t)
	run := newRun(t)
	envelope, err := Seal(place, []byte("a"), recipient, run.Public())
	if err != nil {
		t.Fatal(err)
	}
	result, err := pool.SealResult(place, []byte("a"), run.Public())
	if err != nil {
		t.Fatal(err)
	}
	flip := func(content []byte, bit int) []byte {
		flipped := bytes.Clone(content)
		flipped[bit/8] ^= 1 << (bit % 8)
		return flipped
	}
	for kind, c := range map[string]struct {
		envelope []byte
		open     func([]byte) ([]byte, error)
		wrapped  Problem // of changes in the wrapped key
	}{
		plainKind:  {envelope, func(envelope []byte) ([]byte, error) { return pool.Open(place, envelope) }, ProblemKey},
		resultKind: {result, func(envelope []byte) ([]byte, error) { return run.OpenResult(place, envelope, recipient) }, ProblemSender},
	} {
		for bit := range 8 * len(c.envelope) {
			got, err := c.open(flip(c.envelope, bit))
			wantProblem(t, fmt.Sprintf("%s, bit %d", kind, bit), got, err, ProblemDamaged, ProblemFormat)
		}
		file, _ := sealed.Open(kind, c.envelope)
		for bit := range 8 * len(file) {
			got, err := c.open(sealed.Seal(kind, flip(file, bit)))
			wantProblem(t, fmt.Sprintf("%s, bit %d below the checksum", kind, bit), got, err, ProblemDamaged, ProblemKey, c.wrapped)
		}
	}
}

// Content that grows beyond the limit while it is unpacked is refused, also where its sender has
// the right key.
func TestLimit(t *testing.T) {
	pool, recipient := newPool(t)
	run := newRun(t)
	for name, content := range map[string][]byte{"compressed": make([]byte, 64<<20), "stored": random(t, 100<<10)} {
		envelope, err := Seal(place, content, recipient)
		if err != nil {
			t.Fatal(err)
		}
		result, err := pool.SealResult(place, content, run.Public())
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(content))
		got, err := pool.WithLimit(size-1).Open(place, envelope)
		wantProblem(t, name, got, err, ProblemLarge)
		got, err = run.WithLimit(size-1).OpenResult(place, result, recipient)
		wantProblem(t, name+", as a result", got, err, ProblemLarge)
		if got, err := pool.WithLimit(size).Open(place, envelope); err != nil || len(got) != len(content) {
			t.Errorf("%s: got %d bytes, error %v; want the %d that the limit allows", name, len(got), err, size)
		}
	}
}

// What is compressed in another way than ours, though by somebody who may seal, is an error.
func TestHostileFrames(t *testing.T) {
	pool, recipient := newPool(t)
	wide, err := zstd.NewWriter(nil, zstd.WithWindowSize(2*maxWindow), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	frame := wide.EncodeAll(make([]byte, 4*maxWindow), nil)
	for name, body := range map[string][]byte{"window": frame, "no frame": []byte("no frame"), "cut": frame[:len(frame)-1]} {
		head := append([]byte{isCompressed}, placeHash(plainKind, place)...)
		envelope, err := wrap(plainKind, place, []Recipient{recipient}, head, body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pool.Open(place, envelope)
		wantProblem(t, name, got, err, ProblemDamaged)
	}
	head := append([]byte{isCompressed + 1}, placeHash(plainKind, place)...)
	envelope, err := wrap(plainKind, place, []Recipient{recipient}, head)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pool.Open(place, envelope)
	wantProblem(t, "unknown compression", got, err, ProblemFormat)
}

func TestUnusableRecipients(t *testing.T) {
	pool, recipient := newPool(t)
	smallOrder := PoolRecipient(encodeBech32(recipientPrefix, make([]byte, keySize)))
	for name, to := range map[string][]Recipient{
		"none": nil, "no key": {recipient, PoolRecipient("someone")}, "private key": {PoolRecipient(pool.Text())},
		"point of small order": {smallOrder}, "zero": {RunPublic{}},
	} {
		got, err := Seal(place, nil, to...)
		wantProblem(t, name, got, err, ProblemRecipient)
		if err != nil && strings.Contains(err.Error(), pool.Text()) {
			t.Errorf("%s: the error shows the key: %s", name, err)
		}
	}
	got, err := pool.SealResult(place, nil, RunPublic{})
	wantProblem(t, "result", got, err, ProblemRecipient)
	if _, err := newRun(t).OpenResult(place, nil, smallOrder); err == nil {
		t.Error("a pool whose key is a point of small order has sent a result")
	}
}

func TestSignatures(t *testing.T) {
	run, other := newRun(t), newRun(t)
	message := []byte("a message")
	signature := run.Sign(message)
	if !run.Public().Verify(message, signature) {
		t.Error("its own signature is not verified")
	}
	for name, verified := range map[string]bool{
		"other key":     other.Public().Verify(message, signature),
		"other message": run.Public().Verify([]byte("a massage"), signature),
		"no signature":  run.Public().Verify(message, nil),
		"no key":        RunPublic{}.Verify(message, signature),
		"no context":    run.Public().Verify(message, ed25519.Sign(run.run.signing, message)),
	} {
		if verified {
			t.Errorf("%s: the signature is verified", name)
		}
	}
	for bit := range 8 * len(signature) {
		signature[bit/8] ^= 1 << (bit % 8)
		if run.Public().Verify(message, signature) {
			t.Errorf("bit %d of the signature makes no difference", bit)
		}
		signature[bit/8] ^= 1 << (bit % 8)
	}
}

func TestKeysAsTexts(t *testing.T) {
	pool, recipient := newPool(t)
	run := newRun(t)
	again, err := ParsePoolKey([]byte("# created: today\n# public key: " + string(recipient) + "\r\n\n" + pool.Text() + "\n"))
	if err != nil || again.Text() != pool.Text() || again.Recipient() != pool.Recipient() {
		t.Errorf("the file of a pool's key gives another key, error %v", err)
	}
	runAgain, err := ParseRunKey([]byte("# a comment\n " + run.Text() + "\n"))
	if err != nil || runAgain.Text() != run.Text() || runAgain.Public() != run.Public() {
		t.Errorf("the text of a run key gives another key, error %v", err)
	}
	if public, err := ParseRunPublic(run.Public().String()); err != nil || public != run.Public() {
		t.Errorf("ParseRunPublic(%s) = %s, error %v", run.Public(), public, err)
	}
	if parsed, err := ParsePoolRecipient(string(recipient)); err != nil || parsed != recipient {
		t.Errorf("ParsePoolRecipient(%s) = %s, error %v", recipient, parsed, err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	parsers := map[string]func(string) error{
		"pool key":  func(text string) error { _, err := ParsePoolKey([]byte(text)); return err },
		"run key":   func(text string) error { _, err := ParseRunKey([]byte(text)); return err },
		"recipient": func(text string) error { _, err := ParsePoolRecipient(text); return err },
		"public":    func(text string) error { _, err := ParseRunPublic(text); return err },
	}
	texts := map[string]string{
		"pool key": pool.Text(), "run key": run.Text(), "recipient": string(recipient), "public": run.Public().String(),
	}
	for parser, parse := range parsers {
		refused := []string{"", "\n", hybrid.String(), hybrid.Recipient().String(), texts[parser] + "\n" + texts[parser]}
		for other, text := range texts {
			if other != parser {
				refused = append(refused, text)
			}
		}
		text := texts[parser]
		for i := range text {
			refused = append(refused, text[:i], text[:i]+"q"+text[i+1:], text[:i]+text[i+1:])
		}
		for _, text := range refused {
			if text == texts[parser] {
				continue
			}
			if err := parse(text); err == nil {
				t.Errorf("%s: %q is taken for one", parser, text)
			} else if len(text) > 20 && strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error shows the text: %s", parser, err)
			}
		}
	}
}

// What is derived from a key, and where envelopes have what, is the same in all versions: machines
// of different versions work on one run.
func TestFormatIsKept(t *testing.T) {
	run, err := ParseRunKey([]byte(keptRunKey))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := ParsePoolKey([]byte(keptPoolKey))
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Public().String(); got != keptPublic {
		t.Errorf("Public() = %s, want %s", got, keptPublic)
	}
	if !run.Public().Verify([]byte("a message"), decode(t, keptSignature)) {
		t.Error("the signature is not verified")
	}
	if got, err := pool.Open(place, decode(t, keptEnvelope)); err != nil || string(got) != "a content" {
		t.Errorf("Open() = %q, error %v", got, err)
	}
	if got, err := run.OpenResult(place, decode(t, keptResult), PoolRecipient(pool.Recipient())); err != nil || string(got) != "a result" {
		t.Errorf("OpenResult() = %q, error %v", got, err)
	}
}

// Printing a key in any way shows no secret (rule V7).
func TestPrintedKeys(t *testing.T) {
	pool, _ := newPool(t)
	run := newRun(t)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		text := fmt.Sprintf(format, pool) + fmt.Sprintf(format, run)
		for name, secret := range map[string][]byte{
			"scalar": pool.opener.scalar.Bytes(), "scalar of the run": run.opener.scalar.Bytes(), "secret": run.run.secret,
			"signing key": run.run.signing,
		} {
			for _, shown := range []string{string(secret), fmt.Sprintf("%x", secret), strings.Trim(fmt.Sprintf("%d", secret), "[]")} {
				if strings.Contains(text, shown) {
					t.Errorf("%s shows the %s", format, name)
				}
			}
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	pool, recipient := newPool(t)
	run := newRun(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			content := bytes.Repeat(fmt.Append(nil, "content ", i), 2000)
			place := fmt.Sprint("runs/7/", i)
			envelope, err := Seal(place, content, recipient)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := pool.Open(place, envelope); err != nil || !bytes.Equal(got, content) {
				t.Errorf("envelope %d: got %d bytes, error %v", i, len(got), err)
			}
			result, err := pool.SealResult(place, content, run.Public())
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := run.OpenResult(place, result, recipient); err != nil || !bytes.Equal(got, content) {
				t.Errorf("result %d: got %d bytes, error %v", i, len(got), err)
			}
		})
	}
	wg.Wait()
}
