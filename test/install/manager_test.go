package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// readyTimeout bounds the time in which a manager creates its certificates and answers /readyz on a busy machine.
const readyTimeout = 2 * time.Minute

// wantManager fails the test unless the installed manager becomes ready with its own permissions, and stops cleanly.
func (c *cluster) wantManager(t *testing.T) {
	t.Helper()
	c.kubectl(t, "kubectl wait --for=condition=Established customresourcedefinitions --all")
	log, err := c.startManager(t, true)
	if err != nil {
		t.Fatalf("the manager: %v\n%s", err, end(log))
	}
	if strings.Contains(log, "forbidden") {
		t.Errorf("the service account lacks rights:\n%s", log)
	}
}

// startManager starts the manager with the arguments of the Deployment, and returns its log once it has ended: it is interrupted when it is
// ready, or, if wantReady is false, ends by itself. It returns an error if the manager ended by itself or with one. Only the network, the
// files and the service account of a pod are replaced here.
func (c *cluster) startManager(t *testing.T, wantReady bool) (log string, err error) {
	t.Helper()
	binary, err := manager()
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := c.clients.AppsV1().Deployments(namespace).Get(t.Context(), "muster-controller-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	health := address(t)
	_, port, err := net.SplitHostPort(address(t))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, binary, append(slices.Clone(container.Args), "--health-addr="+health,
		"--diagnostics-address=127.0.0.1:0",
		"--webhook-port="+port, "--leader-election-namespace="+deployment.Namespace, "--kubeconfig="+c.credentials(t, deployment))...)
	var output bytes.Buffer
	command.Env, command.Stdout, command.Stderr = environment(t, container.Env), &output, &output
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = readyTimeout
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended, done := error(nil), make(chan struct{})
	go func() {
		ended = command.Wait()
		close(done)
	}()
	early := errors.New("it ended before it was ready")
	if err = ready(ctx, "http://"+health+"/readyz", done, early); wantReady || err == nil {
		cancel()
	}
	<-done
	if code := command.ProcessState.ExitCode(); code != 0 {
		err = errors.Join(err, fmt.Errorf("ended with %d: %w", code, ended))
	}
	return output.String(), err
}

// end returns the last lines of a log. A manager's last one has the reason for its end.
func end(log string) string {
	const lines = 40
	all := strings.SplitAfter(log, "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// environment returns the container's variables as a pod would have them.
func environment(t *testing.T, variables []corev1.EnvVar) []string {
	t.Helper()
	fields := map[string]string{"metadata.namespace": namespace, "metadata.name": "muster-controller-manager-0", "metadata.uid": "0"}
	var env []string
	for _, v := range variables {
		value := v.Value
		switch {
		case v.ValueFrom != nil && v.ValueFrom.FieldRef != nil:
			value = fields[v.ValueFrom.FieldRef.FieldPath]
		case v.ValueFrom != nil:
			t.Fatalf("variable %s: this test knows fields and values only", v.Name)
		case v.Name == "TMPDIR": // a volume of the pod
			value = t.TempDir()
		}
		env = append(env, v.Name+"="+value)
	}
	return env
}

// credentials writes a kubeconfig with a token of the Deployment's service account, which is all that a pod has.
func (c *cluster) credentials(t *testing.T, of *appsv1.Deployment) string {
	t.Helper()
	accounts, name := c.clients.CoreV1().ServiceAccounts(of.Namespace), of.Spec.Template.Spec.ServiceAccountName
	token, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// address returns an unused loopback address. Its port is outside of the range for ephemeral ports: a manager begins to listen for webhooks
// seconds later, when its certificates exist.
func address(t *testing.T) string {
	t.Helper()
	const lowest, count = 20000, 10000
	for range 100 {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(lowest+rand.IntN(count))))
		if err == nil {
			defer func() { _ = l.Close() }()
			return l.Addr().String()
		}
	}
	t.Fatalf("want a free port from %d to %d", lowest, lowest+count-1)
	return ""
}

// ready returns nil when the URL answers 200, early when done is closed first, and the error of ctx when that ends first.
func ready(ctx context.Context, url string, done chan struct{}, early error) error {
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-done:
			return false, early
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
}
