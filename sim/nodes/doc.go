// Package nodes simulates the software of machines: they boot from their user data, join their cluster with kubeadm's own protocol, and
// maintain a Node.
//
// A machine goes through these stages. Each takes its real duration divided by the fleet's speed; waiting for a real server is never sped
// up.
//
//  1. Firmware and kernel.
//  2. cloud-init: the user data is unpacked and rendered, files are written, commands are noted on the console (package cloudinit). Only
//     `kubeadm join` is carried out. What is no cloud-init is named on the console, and the machine runs without joining.
//  3. kubeadm: discovery, preflight and TLS bootstrap against the real API server (package kubeadm). A failure is printed as kubeadm
//     words it, and is final after kubeadm's own timeouts: the machine runs on and never joins.
//  4. The kubelet: Node, lease, status and pods with the node's own certificate (package kubelet).
//
// Choices: the cloud's controller manager is played at registration, so that a Node has its provider ID, zone, region and instance type
// from the start, whatever `cloud-provider` says; a value that the machine's kubelet would no longer know is named on the console and
// passed over. On Azure the zone of a Node is its location with the zone's number (westus2-1), and the fault domain (0) of a machine that
// is in no zone. Containers of a Job go on until they are deleted. The machine's architecture follows from its instance type. A Node that
// is deleted under a running machine stays deleted, as with a real kubelet, which registers once.
//
// A fleet with a folder keeps each joined machine's key and certificate in it (mode 0600), so that a process that was killed finds its
// machines again without a bootstrap token. What a machine prints never holds a token's secret.
package nodes
