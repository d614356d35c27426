package commands

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// logInto sends what libraries log in this process into a file below dir, where the logs of the other processes are: in the
// middle of a live table it could not be read. The function that it gives closes the file.
func logInto(dir string) (func() error, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the logs: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "up.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	klog.LogToStderr(false)
	klog.SetOutput(f)
	ctrl.SetLogger(klog.Background())
	return func() error {
		klog.Flush()
		// Processes that still end in the background no longer have a reader.
		klog.SetOutput(io.Discard)
		return f.Close()
	}, nil
}
