package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// firstPause before a child that died is started again; it doubles with every death up to lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 5 * time.Second
	// longLife after which a death counts as the first one again.
	longLife = 30 * time.Second
	// maxDeaths in a row end the world: a child that never lives long does not get better by being started.
	maxDeaths = 10
	// stopLimit bounds the time in which all children may stop before they are killed. A user who presses Ctrl-C waits for it, and the next
	// start removes what a killed child leaves behind.
	stopLimit = 2500 * time.Millisecond
	// logLimit bounds the size of a log when a child is started. A larger one is rotated once.
	logLimit = 64 << 20
)

// Child describes a child process of the world.
type Child struct {
	// Name is the name of the child: apiservers, clouds or controllers.
	Name string
	// PID is that of its process; 0 if it does not run.
	PID int
	// Starts counts its starts.
	Starts int
	// Ended is why it ended the last time; empty for one that never did.
	Ended string
	// Log is the file that it writes to.
	Log string
}

// Restart words that the child was started again.
func (c Child) Restart() string {
	return fmt.Sprintf("%s ended (%s) and was started again, %d starts so far; its log is %s", c.Name, c.Ended, c.Starts, c.Log)
}

// child is a process that is started again whenever it ends.
type child struct {
	name    string
	command []string
	env     []string
	log     string
	// pause before it is started again for the first time.
	pause time.Duration

	// failed gets why the child was given up, and is closed when the child is not started again.
	failed chan error

	mu      sync.Mutex
	state   Child
	process *os.Process
}

func newChild(name, log string, command, env []string) *child {
	return &child{name: name, command: command, env: env, log: log, pause: firstPause, failed: make(chan error, 1),
		state: Child{Name: name, Log: log}}
}

// snapshot returns the child's state now.
func (c *child) snapshot() Child {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// run keeps the child alive until ctx ends, and then ends it by the end of its standard input.
func (c *child) run(ctx context.Context) {
	defer close(c.failed)
	pause := c.pause
	for deaths := 0; ctx.Err() == nil; {
		born := time.Now()
		err := c.live(ctx)
		if ctx.Err() != nil {
			return
		}
		c.mu.Lock()
		c.state.Ended = strings.ReplaceAll(err.Error(), "\n", ": ")
		c.mu.Unlock()
		if time.Since(born) > longLife {
			deaths, pause = 0, c.pause
		}
		if deaths++; deaths == maxDeaths {
			c.failed <- fmt.Errorf("%s died %d times in a row, the last time because of: %w; its log is %s", c.name, deaths, err, c.log)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// live is one life of the child: it returns why it ended.
func (c *child) live(ctx context.Context) error {
	log, err := c.openLog()
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.env, log, log
	// The pipe ends with this process, however that ends, and the child ends with the pipe.
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make the pipe to %s: %w", c.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.name, err)
	}
	c.mu.Lock()
	c.state.PID, c.process = cmd.Process.Pid, cmd.Process
	c.state.Starts++
	c.mu.Unlock()
	stopped := context.AfterFunc(ctx, func() { _ = stdin.Close() })
	err = cmd.Wait()
	stopped()
	c.mu.Lock()
	c.state.PID, c.process = 0, nil
	c.mu.Unlock()
	if reason := lastLine(c.log); reason != "" {
		return errors.Join(err, errors.New(reason))
	}
	return errors.Join(err, errors.New("it ended without a word"))
}

// kill ends the process by force, if there is one.
func (c *child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != nil {
		_ = c.process.Kill()
	}
}

// openLog opens the log at its end, and puts one aside that has grown too large.
func (c *child) openLog() (*os.File, error) {
	if i, err := os.Stat(c.log); err == nil && i.Size() > logLimit {
		if err := os.Rename(c.log, c.log+".old"); err != nil {
			return nil, fmt.Errorf("put the log of %s aside: %w", c.name, err)
		}
	}
	f, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", c.name, err)
	}
	return f, nil
}
