// Command http2_peer is the HTTP/2 of Go's net/http on either side.
//
//	http2_peer server CERT KEY EVERY                  answers with 200; every so manieth answer ends its connection with GOAWAY
//	http2_peer client CA URL TOKEN TOPIC N C F BODY   sends N pushes over C connections, F in flight
//
// The server prints its port on a line of its own, and what it saw as JSON when its standard input ends. The client
// prints as JSON how many pushes had which status, and the time and CPU from its second push to the last answer.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	if os.Args[1] == "server" {
		serve()
	} else {
		send()
	}
}

func serve() {
	every, err := strconv.ParseInt(os.Args[4], 10, 64)
	check(err)
	var requests, goAways, cut, other int64
	var mutex sync.Mutex
	paths := map[string]int{}
	handler := func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || len(body) == 0 {
			atomic.AddInt64(&cut, 1)
		}
		if request.ProtoMajor != 2 {
			atomic.AddInt64(&other, 1)
		}
		mutex.Lock()
		paths[request.URL.Path]++
		mutex.Unlock()
		number := atomic.AddInt64(&requests, 1)
		if number%7 == 0 {
			answer.WriteHeader(http.StatusEarlyHints)
			answer.Header().Set("Trailer", "x-after")
			defer answer.Header().Set("x-after", "all")
		}
		if every > 0 && number%every == 0 {
			atomic.AddInt64(&goAways, 1)
			answer.Header().Set("Connection", "close")
		}
		answer.WriteHeader(http.StatusOK)
	}
	server := &http.Server{Handler: http.HandlerFunc(handler)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go server.ServeTLS(listener, os.Args[2], os.Args[3])
	io.Copy(io.Discard, os.Stdin)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": requests, "goAways": goAways, "cut": cut, "other": other, "paths": paths,
	}))
}

func send() {
	authority, err := os.ReadFile(os.Args[2])
	check(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	count, connections, inFlight := number(6), number(7), number(8)
	clients := make([]*http.Client, connections)
	for index := range clients {
		clients[index] = &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
		}}
	}
	var mutex sync.Mutex
	statuses := map[string]int{}
	one := func(client *http.Client) {
		request, err := http.NewRequest("POST", os.Args[3], strings.NewReader(os.Args[9]))
		check(err)
		request.Header.Set("authorization", "bearer "+os.Args[4])
		request.Header.Set("apns-topic", os.Args[5])
		status := ""
		if answer, err := client.Do(request); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			status = strconv.Itoa(answer.StatusCode)
			if answer.ProtoMajor != 2 {
				status += " over " + answer.Proto
			}
		} else {
			status = err.Error()
		}
		mutex.Lock()
		statuses[status]++
		mutex.Unlock()
	}
	// As Apple describes it: one first on each connection, and more when the token is known.
	for _, client := range clients {
		one(client)
	}
	start, before := time.Now(), cpuSeconds()
	var taken int64 = int64(connections)
	var all sync.WaitGroup
	for index := 0; index < inFlight; index++ {
		all.Add(1)
		go func(client *http.Client) {
			defer all.Done()
			for atomic.AddInt64(&taken, 1) <= int64(count) {
				one(client)
			}
		}(clients[index%connections])
	}
	all.Wait()
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"statuses": statuses, "seconds": time.Since(start).Seconds(), "cpu_seconds": cpuSeconds() - before,
	}))
}

func number(argument int) int {
	value, err := strconv.Atoi(os.Args[argument])
	check(err)
	return value
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
