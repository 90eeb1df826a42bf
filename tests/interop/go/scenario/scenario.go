// Package scenario is what every Go client here does with every probe server behind the hub.
// tests/interop/README.md says what a probe server offers.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	limit  = 30 * time.Second  // a check that takes longer has failed
	starts = 120 * time.Second // until all servers behind the hub are there
	many   = 20

	ModelSays = "Paris"
	Root      = "file:///srv/interop"
	Person    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
)

var tools = []string{"ask_model", "ask_name", "ask_roots", "cancelled", "echo", "fail", "grow", "hang", "progress", "shrink"}

// ErrCannot is what an adapter answers when its SDK has no way to do a thing.
var ErrCannot = errors.New("the SDK cannot")

// Progress is one notification of progress.
type Progress struct {
	Progress, Total float64
	Message         string
}

// Client is what an SDK must be able to do.
type Client interface {
	Version() string
	Tools(ctx context.Context) ([]string, error)
	Call(ctx context.Context, name string, args map[string]any, progress func(Progress)) (text string, isError bool, err error)
	Resources(ctx context.Context) ([]string, error)
	Templates(ctx context.Context) ([]string, error)
	Read(ctx context.Context, uri string) (string, error)
	Prompts(ctx context.Context) ([]string, error)
	Prompt(ctx context.Context, name string, args map[string]string) (string, error)
	// CanCancel says why the SDK cannot tell the server that a call is not wanted any more, or "".
	CanCancel() string
	// Changed has a value each time that the client was told of changed tools.
	Changed() <-chan struct{}
	Close() error
}

// AnswerForm is what the person says to a question: no, when it says so.
func AnswerForm(message string) map[string]any {
	if strings.Contains(message, "decline") {
		return nil
	}
	return map[string]any{"name": "Ada"}
}

// HubCommand is what a client runs to have a hub of its own on stdio.
func HubCommand() (string, []string) {
	return os.Getenv("PATCHBAY"), []string{"mcp", "--standalone", "--config", os.Getenv("INTEROP_CONFIG")}
}

// HubURL is where the daemon is, and the token it wants.
func HubURL() (string, string) { return os.Getenv("INTEROP_URL"), os.Getenv("INTEROP_TOKEN") }

func same(got, wanted any) error {
	if !reflect.DeepEqual(got, wanted) {
		return fmt.Errorf("got %#v, wanted %#v", got, wanted)
	}
	return nil
}

// Asks the hub again until the answer is yes; ctx ends it.
func until(ctx context.Context, fact func() (bool, error)) error {
	for {
		yes, err := fact()
		if yes || err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func text(ctx context.Context, c Client, name string, args map[string]any, wanted string) error {
	got, isError, err := c.Call(ctx, name, args, nil)
	if err != nil {
		return err
	}
	if isError {
		return fmt.Errorf("an error: %s", got)
	}
	return same(got, wanted)
}

func listed(what string, list func(context.Context) ([]string, error), ctx context.Context) error {
	names, err := list(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, what) {
		return fmt.Errorf("%s is not listed", what)
	}
	return nil
}

func cancels(ctx context.Context, c Client, s string) (int, error) {
	got, _, err := c.Call(ctx, s+"__cancelled", nil, nil)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(got)
}

func cancel(ctx context.Context, c Client, s string) error {
	if why := c.CanCancel(); why != "" {
		return fmt.Errorf("%w: %s", ErrCannot, why)
	}
	before, err := cancels(ctx, c, s)
	if err != nil {
		return err
	}
	begun := make(chan struct{}, 1)
	ended := make(chan error, 1)
	hung, stop := context.WithCancel(ctx)
	go func() {
		_, _, err := c.Call(hung, s+"__hang", nil, func(Progress) {
			select {
			case begun <- struct{}{}:
			default:
			}
		})
		ended <- err
	}()
	select {
	case <-begun:
	case err := <-ended:
		stop()
		return fmt.Errorf("the call ended before it was cancelled: %v", err)
	case <-ctx.Done():
		stop()
		return errors.New("no progress was told")
	}
	stop()
	if err := <-ended; err == nil {
		return errors.New("the call was answered")
	}
	return until(ctx, func() (bool, error) {
		n, err := cancels(ctx, c, s)
		return n == before+1, err
	})
}

func progress(ctx context.Context, c Client, s string) error {
	told := make(chan Progress, 100)
	got, _, err := c.Call(ctx, s+"__progress", map[string]any{"steps": 3}, func(p Progress) { told <- p })
	if err != nil {
		return err
	}
	if err := same(got, "done"); err != nil {
		return err
	}
	var seen []Progress
	for len(seen) < 3 {
		select {
		case p := <-told:
			seen = append(seen, p)
		case <-ctx.Done():
			return fmt.Errorf("%w; told: %v", ctx.Err(), seen)
		}
	}
	for len(told) > 0 {
		seen = append(seen, <-told)
	}
	// These SDKs may hand notifications to their handlers out of order.
	slices.SortFunc(seen, func(a, b Progress) int { return int(a.Progress - b.Progress) })
	return same(seen, []Progress{{1, 3, "step 1"}, {2, 3, "step 2"}, {3, 3, "step 3"}})
}

func listChanged(ctx context.Context, c Client, s string) error {
	for len(c.Changed()) > 0 {
		<-c.Changed()
	}
	hears := func(there bool) error {
		return until(ctx, func() (bool, error) {
			select {
			case <-c.Changed():
			case <-ctx.Done():
				return false, errors.New("nobody told of the change")
			}
			names, err := c.Tools(ctx)
			return slices.Contains(names, s+"__grown") == there, err
		})
	}
	if _, _, err := c.Call(ctx, s+"__grow", nil, nil); err != nil {
		return err
	}
	if err := hears(true); err != nil {
		return err
	}
	if err := text(ctx, c, s+"__grown", nil, "I am new"); err != nil {
		return err
	}
	if _, _, err := c.Call(ctx, s+"__shrink", nil, nil); err != nil {
		return err
	}
	return hears(false)
}

var checks = []struct {
	what string
	run  func(ctx context.Context, c Client, s string) error
}{
	{"tools", func(ctx context.Context, c Client, s string) error {
		var mine []string
		names, err := c.Tools(ctx)
		for _, name := range names {
			if rest, ok := strings.CutPrefix(name, s+"__"); ok {
				mine = append(mine, rest)
			}
		}
		slices.Sort(mine)
		return errors.Join(err, same(mine, tools))
	}},
	{"call", func(ctx context.Context, c Client, s string) error {
		return text(ctx, c, s+"__echo", map[string]any{"text": "häuser ✓"}, "echo: häuser ✓")
	}},
	{"many calls", func(ctx context.Context, c Client, s string) error {
		var all sync.WaitGroup
		wrong := make([]error, many)
		for i := range many {
			all.Go(func() {
				wrong[i] = text(ctx, c, s+"__echo", map[string]any{"text": strconv.Itoa(i)}, "echo: "+strconv.Itoa(i))
			})
		}
		all.Wait()
		return errors.Join(wrong...)
	}},
	{"error result", func(ctx context.Context, c Client, s string) error {
		got, isError, err := c.Call(ctx, s+"__fail", nil, nil)
		if err == nil && (!isError || !strings.Contains(got, "it failed")) {
			err = fmt.Errorf("error %v: %s", isError, got)
		}
		return err
	}},
	{"unknown tool", func(ctx context.Context, c Client, s string) error {
		got, isError, err := c.Call(ctx, s+"__no_such_tool", nil, nil)
		if err != nil {
			got = err.Error()
		} else if !isError {
			return errors.New("a tool that does not exist answered")
		}
		if !strings.Contains(got, "no_such_tool") {
			return fmt.Errorf("the error does not name the tool: %s", got)
		}
		return nil
	}},
	{"progress", progress},
	{"cancel", cancel},
	{"elicitation", func(ctx context.Context, c Client, s string) error {
		return text(ctx, c, s+"__ask_name", map[string]any{"message": "who?"}, "hello Ada")
	}},
	{"elicitation declined", func(ctx context.Context, c Client, s string) error {
		return text(ctx, c, s+"__ask_name", map[string]any{"message": "please decline"}, "declined")
	}},
	{"sampling", func(ctx context.Context, c Client, s string) error {
		return text(ctx, c, s+"__ask_model", nil, "model: "+ModelSays)
	}},
	{"roots", func(ctx context.Context, c Client, s string) error {
		return text(ctx, c, s+"__ask_roots", nil, "roots: "+Root)
	}},
	{"resources", func(ctx context.Context, c Client, s string) error {
		fixed, err := c.Read(ctx, "probe://"+s+"/fixed")
		item, err2 := c.Read(ctx, "probe://"+s+"/item/7")
		return errors.Join(err, err2, same(fixed, "fixed text"), same(item, "item 7"),
			listed("probe://"+s+"/fixed", c.Resources, ctx), listed("probe://"+s+"/item/{id}", c.Templates, ctx))
	}},
	{"unknown resource", func(ctx context.Context, c Client, s string) error {
		if _, err := c.Read(ctx, "probe://"+s+"/nowhere"); err == nil {
			return errors.New("a resource that does not exist was read")
		}
		return nil
	}},
	{"prompts", func(ctx context.Context, c Client, s string) error {
		got, err := c.Prompt(ctx, s+"__greet", map[string]string{"name": "Ada"})
		return errors.Join(err, same(got, "Greet Ada"), listed(s+"__greet", c.Prompts, ctx))
	}},
	{"list_changed", listChanged},
}

type report struct {
	label  string
	failed bool
}

func (r *report) check(what string, run func(ctx context.Context) error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	err := run(ctx)
	switch {
	case err == nil:
		fmt.Printf("ok - %s %s\n", r.label, what)
	case errors.Is(err, ErrCannot):
		fmt.Printf("ok - %s %s # SKIP %s\n", r.label, what, err)
	default:
		r.failed = true
		fmt.Printf("# %s\nnot ok - %s %s\n", strings.ReplaceAll(err.Error(), "\n", "\n# "), r.label, what)
	}
}

func (r *report) all(c Client, era string, servers []string) {
	r.check("era", func(context.Context) error { return same(c.Version() >= "2026", era == "modern") })
	ctx, stop := context.WithTimeout(context.Background(), starts)
	defer stop()
	missing := servers
	err := until(ctx, func() (bool, error) {
		names, err := c.Tools(ctx)
		missing = slices.DeleteFunc(slices.Clone(servers), func(s string) bool { return slices.Contains(names, s+"__echo") })
		return len(missing) == 0, err
	})
	r.check("all servers are there", func(context.Context) error {
		if err != nil {
			return fmt.Errorf("%w; not there: %v", err, missing)
		}
		return nil
	})
	for _, s := range servers {
		for _, one := range checks {
			r.check(s+": "+one.what, func(ctx context.Context) error { return one.run(ctx, c, s) })
		}
	}
}

// ActOut connects by the environment, does everything, and ends the program.
func ActOut(sdk string, connect func(ctx context.Context, transport, era string) (Client, error)) {
	transport, era := os.Getenv("INTEROP_TRANSPORT"), os.Getenv("INTEROP_ERA")
	r := &report{label: fmt.Sprintf("%s client, %s, %s:", sdk, era, transport)}
	var c Client
	r.check("connects", func(context.Context) (err error) {
		c, err = connect(context.Background(), transport, era)
		return err
	})
	if c != nil {
		r.all(c, era, strings.Fields(os.Getenv("INTEROP_SERVERS")))
		r.check("ends", func(context.Context) error { return c.Close() })
	}
	if r.failed {
		os.Exit(1)
	}
}
