// Package toy simulates a small cloud that manages Kubernetes: clusters with pools of nodes, over JSON and HTTP. No such cloud exists. It
// shows how little a simulator takes on sim/managed and sim/core; docs/adding-a-cloud.md goes through it file by file.
package toy
