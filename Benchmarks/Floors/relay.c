/* The floor of a message between two people: a WebSocket relay that does what nobody can leave out, and nothing else.

   Usage: relay PORT LOG

   It speaks as much of docs/server/protocol.md, in protobuf, as `tidings bench live --url ws://127.0.0.1:PORT/` says to it: hello is answered by
   welcome; a send is appended to the log, synced, and then answered by send_accepted and handed to its recipient as an entry; acks are
   taken. A turn is one epoll_wait: everything that was readable is read, the log is written and synced once, and each connection gets
   one write. The token is the person's name, which ends in a number; nobody is checked. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEOPLE_MAX = 65536, FILES_MAX = 65536, EVENTS = 1024 };

typedef struct { uint8_t *bytes; size_t length, capacity; } Buffer;
typedef struct { const uint8_t *bytes; size_t length; } Slice;
typedef struct {
    int file, is_open, is_dirty, is_watched;
    uint64_t position; /* of the person's log */
    char name[64];
    size_t name_length;
    Buffer input, output;
} Connection;

static Connection *by_file[FILES_MAX], *by_number[PEOPLE_MAX], *dirty[FILES_MAX];
static size_t dirty_count;
static Buffer record;
static int poller;
static uint64_t last_id;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint8_t *room(Buffer *buffer, size_t more) {
    if (buffer->length + more > buffer->capacity) {
        buffer->capacity = (buffer->length + more) * 2;
        if (!(buffer->bytes = realloc(buffer->bytes, buffer->capacity))) fail("realloc");
    }
    return buffer->bytes + buffer->length;
}

static void append(Buffer *buffer, const void *bytes, size_t length) {
    memcpy(room(buffer, length), bytes, length);
    buffer->length += length;
}

static size_t varint(uint8_t *to, uint64_t value) {
    size_t length = 0;
    while (value > 0x7f) to[length++] = (uint8_t)value | 0x80, value >>= 7;
    to[length++] = (uint8_t)value;
    return length;
}

static int read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    *value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return 1;
    }
    return 0;
}

/* The fields with a length, by number below 16; other wire types are passed over. */
static void read_fields(const uint8_t *at, const uint8_t *end, Slice *fields) {
    uint64_t tag, length;
    while (at < end && read_varint(&at, end, &tag) && read_varint(&at, end, &length)) {
        if ((tag & 7) == 0) continue;
        if ((tag & 7) != 2 || length > (uint64_t)(end - at)) return;
        if (tag >> 3 < 16) fields[tag >> 3] = (Slice){at, length};
        at += length;
    }
}

static uint8_t *put_slice(uint8_t *to, int field, Slice slice) {
    *to++ = (uint8_t)(field << 3 | 2);
    to += varint(to, slice.length);
    memcpy(to, slice.bytes, slice.length);
    return to + slice.length;
}

static uint8_t *put_number(uint8_t *to, int field, uint64_t value) {
    *to++ = (uint8_t)(field << 3);
    return to + varint(to, value);
}

/* Queues one frame as a WebSocket message. */
static void queue(Connection *connection, int field, Slice body) {
    uint8_t frame[16], length[10];
    size_t of_length = varint(length, body.length), size = 1 + of_length + body.length, head = 2;
    frame[0] = 0x82;
    if (size < 126) {
        frame[1] = (uint8_t)size;
    } else {
        frame[1] = 126, frame[2] = (uint8_t)(size >> 8), frame[3] = (uint8_t)size, head = 4;
    }
    frame[head++] = (uint8_t)(field << 3 | 2);
    memcpy(frame + head, length, of_length);
    append(&connection->output, frame, head + of_length);
    append(&connection->output, body.bytes, body.length);
    if (!connection->is_dirty) {
        connection->is_dirty = 1;
        dirty[dirty_count++] = connection;
    }
}

static Connection **person(Slice name) {
    size_t number = 0, start = name.length;
    while (start > 0 && name.bytes[start - 1] >= '0' && name.bytes[start - 1] <= '9') start--;
    for (; start < name.length; start++) number = number * 10 + (name.bytes[start] - '0');
    return &by_number[number % PEOPLE_MAX];
}

static void relay(Connection *from, Slice send) {
    Slice fields[16] = {0}, conversation[16] = {0};
    read_fields(send.bytes, send.bytes + send.length, fields);
    read_fields(fields[2].bytes, fields[2].bytes + fields[2].length, conversation);
    Connection *to = *person(conversation[2]);
    char id[14];
    snprintf(id, sizeof id, "%013llu", (unsigned long long)++last_id);
    uint8_t body[128];
    uint8_t *end = put_slice(body, 1, fields[1]);
    end = put_slice(end, 2, (Slice){(uint8_t *)id, 13});
    end = put_number(put_number(end, 3, last_id), 4, ++from->position);
    queue(from, 2, (Slice){body, (size_t)(end - body)});

    uint8_t seen[128], *seen_end = put_slice(seen, 1, conversation[1]);
    seen_end = put_slice(seen_end, 2, (Slice){(uint8_t *)from->name, from->name_length});
    static uint8_t message[70000], entry[70100];
    end = put_slice(message, 1, (Slice){(uint8_t *)id, 13});
    end = put_slice(end, 2, (Slice){(uint8_t *)from->name, from->name_length});
    end = put_slice(end, 3, (Slice){seen, (size_t)(seen_end - seen)});
    for (int field = 1; field <= 4; field++)
        if (field != 2) end = put_slice(end, field == 1 ? 4 : field + 2, fields[field]);
    end = put_slice(put_number(end, 11, last_id), 12, (Slice){(uint8_t *)"demo", 4});
    append(&record, message, (size_t)(end - message));
    if (!to) return;
    uint8_t *entry_end = put_slice(put_number(entry, 1, ++to->position), 2, (Slice){message, (size_t)(end - message)});
    queue(to, 4, (Slice){entry, (size_t)(entry_end - entry)});
}

static void receive(Connection *connection, const uint8_t *bytes, size_t length) {
    const uint8_t *at = bytes, *end = bytes + length;
    uint64_t tag, size;
    if (!read_varint(&at, end, &tag) || !read_varint(&at, end, &size) || size != (uint64_t)(end - at)) return;
    if (tag >> 3 == 2 && size < 65536) relay(connection, (Slice){at, size});
    if (tag >> 3 != 1) return; /* an ack, whose log nobody reads here */
    Slice fields[16] = {0};
    read_fields(at, end, fields);
    connection->name_length = fields[3].length < sizeof connection->name ? fields[3].length : 0;
    memcpy(connection->name, fields[3].bytes, connection->name_length);
    *person(fields[3]) = connection;
    uint8_t body[16];
    queue(connection, 1, (Slice){body, (size_t)(put_number(body, 1, 1) - body)});
}

/* Takes the handshake, or whole frames. Returns how many bytes it has taken. */
static size_t take(Connection *connection, uint8_t *bytes, size_t length) {
    size_t taken = 0;
    if (!connection->is_open) {
        uint8_t *end = memmem(bytes, length, "\r\n\r\n", 4);
        if (!end) return 0;
        connection->is_open = 1;
        /* The key of the generator is the sample of RFC 6455 §1.3. */
        static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: tidings.v1.protobuf\r\n\r\n";
        append(&connection->output, answer, sizeof answer - 1);
        connection->is_dirty = 1;
        dirty[dirty_count++] = connection;
        taken = (size_t)(end + 4 - bytes);
    }
    while (length - taken >= 6) {
        uint8_t *frame = bytes + taken;
        size_t size = frame[1] & 0x7f, head = 2;
        if (size == 126) size = (size_t)frame[2] << 8 | frame[3], head = 4;
        if (length - taken < head + 4 + size) break;
        uint8_t *mask = frame + head, *body = mask + 4;
        for (size_t index = 0; index < size; index++) body[index] ^= mask[index & 3];
        if ((frame[0] & 0xf) == 2) receive(connection, body, size);
        taken += head + 4 + size;
    }
    return taken;
}

static void hang_up(Connection *connection) {
    for (size_t index = 0; index < dirty_count; index++)
        if (dirty[index] == connection) dirty[index--] = dirty[--dirty_count];
    Connection **named = person((Slice){(uint8_t *)connection->name, connection->name_length});
    if (*named == connection) *named = NULL;
    by_file[connection->file] = NULL;
    close(connection->file);
    free(connection->input.bytes);
    free(connection->output.bytes);
    free(connection);
}

static void read_from(Connection *connection) {
    static uint8_t bytes[65536];
    ssize_t count = read(connection->file, bytes, sizeof bytes);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return hang_up(connection);
    if (connection->input.length == 0) {
        size_t taken = take(connection, bytes, (size_t)count);
        append(&connection->input, bytes + taken, (size_t)count - taken);
        return;
    }
    append(&connection->input, bytes, (size_t)count);
    size_t taken = take(connection, connection->input.bytes, connection->input.length);
    memmove(connection->input.bytes, connection->input.bytes + taken, connection->input.length -= taken);
}

static void write_to(Connection *connection) {
    ssize_t count = write(connection->file, connection->output.bytes, connection->output.length);
    if (count < 0) count = 0;
    memmove(connection->output.bytes, connection->output.bytes + count, connection->output.length -= (size_t)count);
    int waits = connection->output.length > 0;
    if (waits == connection->is_watched) return;
    connection->is_watched = waits;
    struct epoll_event event = {.events = EPOLLIN | (waits ? EPOLLOUT : 0), .data.fd = connection->file};
    epoll_ctl(poller, EPOLL_CTL_MOD, connection->file, &event);
}

static void accept_all(int listener) {
    int file, on = 1;
    while ((file = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0 && file < FILES_MAX) {
        setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (!(by_file[file] = calloc(1, sizeof(Connection)))) fail("calloc");
        by_file[file]->file = file;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = file};
        epoll_ctl(poller, EPOLL_CTL_ADD, file, &event);
    }
}

int main(int count, char **arguments) {
    if (count != 3) return fputs("usage: relay PORT LOG\n", stderr), 2;
    signal(SIGPIPE, SIG_IGN);
    int log = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND, 0600), on = 1;
    if (log < 0) fail(arguments[2]);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
    poller = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[EVENTS];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int ready = epoll_wait(poller, events, EVENTS, -1);
        for (int index = 0; index < ready; index++) {
            int file = events[index].data.fd;
            if (file == listener) accept_all(listener);
            else if (by_file[file] && events[index].events & EPOLLOUT) write_to(by_file[file]);
            if (file != listener && by_file[file] && events[index].events & ~(uint32_t)EPOLLOUT) read_from(by_file[file]);
        }
        if (record.length > 0) {
            if (write(log, record.bytes, record.length) != (ssize_t)record.length || fdatasync(log)) fail("log");
            record.length = 0;
        }
        for (size_t index = 0; index < dirty_count; index++) {
            dirty[index]->is_dirty = 0;
            write_to(dirty[index]);
        }
        dirty_count = 0;
    }
}
