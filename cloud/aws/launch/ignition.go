package launch

import (
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"
)

// defaultIgnition is the version of Ignition's configuration that is written where nothing says otherwise.
const defaultIgnition = "2.3.0"

// ignitionPointer is a configuration that takes its content from elsewhere: version 2 appends what it fetches, version 3 merges it.
// What is fetched is checked by its hash.
func (s Source) ignitionPointer(source string) ([]byte, error) {
	version := s.ignitionVersion()
	sum := sha512.Sum512(s.Bootstrap.Data())
	remote := []map[string]any{{"source": source, "verification": map[string]string{"hash": "sha512-" + hex.EncodeToString(sum[:])}}}
	within := map[string]any{"version": version}
	if strings.HasPrefix(version, "2.") {
		within["config"] = map[string]any{"append": remote}
	} else {
		within["config"] = map[string]any{"merge": remote}
	}
	if proxy := s.ignitionProxy(); len(proxy) > 0 {
		within["proxy"] = proxy
	}
	if authorities := s.ignitionAuthorities(); len(authorities) > 0 {
		within["security"] = map[string]any{"tls": map[string]any{"certificateAuthorities": authorities}}
	}
	text, err := json.Marshal(map[string]any{"ignition": within})
	if err != nil {
		return nil, fmt.Errorf("write the Ignition configuration that points to the data: %w", err)
	}
	return text, nil
}

// ignitionVersion returns the version that the pool asks for, else that of the data itself, because no version reads another.
func (s Source) ignitionVersion() string {
	if s.Ignition != nil && s.Ignition.Version != "" {
		return s.Ignition.Version + ".0"
	}
	var written struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if err := json.Unmarshal(s.Bootstrap.Data(), &written); err != nil || written.Ignition.Version == "" {
		return defaultIgnition
	}
	return written.Ignition.Version
}

func (s Source) ignitionProxy() map[string]any {
	if s.Ignition == nil || s.Ignition.Proxy == nil {
		return nil
	}
	proxy := map[string]any{}
	if p := ptr.Deref(s.Ignition.Proxy.HTTPProxy, ""); p != "" {
		proxy["httpProxy"] = p
	}
	if p := ptr.Deref(s.Ignition.Proxy.HTTPSProxy, ""); p != "" {
		proxy["httpsProxy"] = p
	}
	if len(s.Ignition.Proxy.NoProxy) > 0 {
		proxy["noProxy"] = s.Ignition.Proxy.NoProxy
	}
	return proxy
}

func (s Source) ignitionAuthorities() []map[string]any {
	if s.Ignition == nil || s.Ignition.TLS == nil {
		return nil
	}
	var list []map[string]any
	for _, source := range s.Ignition.TLS.CASources {
		list = append(list, map[string]any{"source": source})
	}
	return list
}
