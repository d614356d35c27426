package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

const (
	// socketPathLimit is the shortest limit among the supported systems (104 bytes on macOS, 108 on Linux, both with the final zero byte).
	// With a longer path, bind fails with "invalid argument".
	socketPathLimit = 103
	// etcdStartLimit bounds the wait for a store that replays a long log on a slow disk.
	etcdStartLimit = time.Minute
	// walSegmentBytes is the preallocated size of etcd's log. The default of 64 MiB is too much for a temporary world.
	walSegmentBytes = 8 << 20
	// etcdQuotaBytes bounds the size of the database.
	etcdQuotaBytes = 4 << 30
)

// Etcd is a running single-member store.
type Etcd struct {
	// URL is where API servers reach it: a unix socket in its directory, or a loopback port where the path is too long.
	URL string

	server *embed.Etcd
}

// StartEtcd starts the store in dir, which is made when it does not exist, and returns when it serves. It listens on a
// unix socket in dir, which only the owner of dir may open; where the path would be too long for a socket it listens on
// a free loopback port instead. Writes are not synced to the disk: they survive a killed process, not a power cut.
func StartEtcd(dir string) (*Etcd, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of etcd: %w", err)
	}
	listen, err := etcdAddress(dir)
	if err != nil {
		return nil, err
	}
	// The size is a variable of the package, and the same for every store of this process.
	wal.SegmentSizeBytes = walSegmentBytes
	server, err := embed.StartEtcd(etcdConfig(dir, listen))
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return &Etcd{URL: listen.String(), server: server}, nil
	case err = <-server.Err():
	case <-time.After(etcdStartLimit):
		err = fmt.Errorf("not ready within %v", etcdStartLimit)
	}
	server.Close()
	return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
}

// etcdAddress is where the store listens for API servers.
func etcdAddress(dir string) (url.URL, error) {
	path := filepath.Join(dir, "client.sock")
	if len(path) <= socketPathLimit {
		// A killed process leaves its socket behind; no other process uses this directory.
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return url.URL{}, fmt.Errorf("remove the socket that an earlier etcd left: %w", err)
		}
		return url.URL{Scheme: "unix", Path: path}, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, fmt.Errorf("find a free port for etcd: %w", err)
	}
	return url.URL{Scheme: "http", Host: l.Addr().String()}, l.Close()
}

func etcdConfig(dir string, listen url.URL) *embed.Config {
	c := embed.NewConfig()
	c.Name = "local"
	c.Dir = filepath.Join(dir, "data")
	c.ListenClientUrls = []url.URL{listen}
	// Advertised addresses have to be host:port; a single member advertises them to no other.
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	c.ListenPeerUrls = nil
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.UnsafeNoFsync = true
	c.QuotaBackendBytes = etcdQuotaBytes
	c.AutoCompactionMode = "periodic"
	c.AutoCompactionRetention = "5m"
	// A single member elects itself at once.
	c.TickMs, c.ElectionMs = 20, 200
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	return c
}

// DeletePrefix removes everything that an API server with this prefix has stored. The server has to be stopped.
func (e *Etcd) DeletePrefix(ctx context.Context, prefix string) error {
	// The closing slash keeps /a/b from taking /a/bc along; '0' is the character after it.
	_, err := e.server.Server.DeleteRange(ctx, &etcdserverpb.DeleteRangeRequest{Key: []byte(prefix + "/"), RangeEnd: []byte(prefix + "0")})
	if err != nil {
		return fmt.Errorf("delete everything below %s from etcd: %w", prefix, err)
	}
	return nil
}

// Close stops the store. API servers that use it have to be stopped before.
func (e *Etcd) Close() { e.server.Close() }
