// Command manager runs Muster's controllers and webhooks in a management cluster, alongside Cluster API's own managers.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/pflag"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/manager"
	"github.com/muster-project/muster/manager/flags"
	"github.com/muster-project/muster/manager/tracing"
)

const userAgent = "muster-controller-manager"

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, pflag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

// run returns the whole life of the process: flags, the manager, its end.
func run(ctx context.Context, args []string, env func(string) string) (err error) {
	f, err := flags.Parse(args, env)
	if err != nil {
		return err
	}
	if err := logsv1.ValidateAndApply(f.Logs, nil); err != nil {
		return fmt.Errorf("logging flags: %w", err)
	}
	ctrl.SetLogger(klog.Background())
	options, err := f.Options(env)
	if err != nil {
		return err
	}
	options.Lean = true
	f.Tracing.Service, f.Tracing.Version = userAgent, version()
	spans, err := tracing.New(ctx, f.Tracing, env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, spans.Shutdown(ctx)) }()
	spans.Report(func(err error) { klog.InfoS("spans can't be sent", "reason", err.Error()) })
	options.Tracer = spans.Tracer()
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the management cluster (--kubeconfig, KUBECONFIG, or the pod's own): %w", err)
	}
	config.QPS, config.Burst = f.KubeQPS, f.KubeBurst
	config.UserAgent = remote.DefaultClusterAPIUserAgent(userAgent)
	config.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("API Server Warning"))
	m, err := manager.New(ctx, config, options)
	if err != nil {
		return err
	}
	klog.InfoS("starting", "version", version(), "controllers", options.Controllers)
	if err := m.Start(ctx); err != nil {
		return fmt.Errorf("run: %w", err)
	}
	return nil
}

// release is the version that a release build sets through the linker; empty in any other build.
var release string

// version returns the release, or the version of the module as it was built.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}
