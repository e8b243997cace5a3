//! Table of the clauses, by the family whose file proves them.
//!
//! The table omits behavior that the types of a [`Store`](tabla_core::Store) cannot express:
//! transactions name no index and stay in one account (36), SDKs do not retry conflicts (39), a
//! failed call consumes capacity (42, 59), expiry consumes none (55), and PartiQL has a size limit
//! of its own (7). CREATING is not observable, because calls wait for ACTIVE (53, 54).

use super::Clause;
use crate::family::Family;

macro_rules! clauses {
    ($($family:ident { $($id:literal $text:literal;)+ })+) => {
        /// All clauses, in the order of the families.
        pub(super) const CLAUSES: &[Clause] =
            &[$($(Clause { id: $id, text: $text, family: Family::$family },)+)+];
    };
}

clauses! {
    Values {
        "1a" "A number keeps 38 significant digits exactly.";
        "1b" "Magnitudes from 1E-130 to 9.99…E+125 are stored, with either sign.";
        "1c" "A number with 39 significant digits is rejected with ValidationException.";
        "1d" "A number of magnitude 1E126 or more is rejected as an overflow.";
        "1e" "A number of magnitude 1E-131 or less is rejected as an underflow.";
        "1f"
            "The exponent of a zero is range-checked too: 0e126 is an overflow, 0e-131 an \
             underflow.";
        "2a"
            "A redundant sign, zero or decimal point is removed: 00042, +5, .5 and 1. become \
             42, 5, 0.5 and 1.";
        "2b" "The number -0 becomes 0.";
        "2c" "A number with an exponent is returned without it: 1.5E2 becomes 150.";
        "2d" "Trailing zeros of a fraction are removed: 1.200 becomes 1.2.";
        "2e"
            "Texts that are no decimal numbers, such as ++5, 0x5, 1_000, NaN, Infinity and 1e, \
             are rejected with ValidationException.";
        "3a" "The number keys 1, 1.0 and 1e0 address the same item.";
        "3b" "The number keys 1 and 1.0 in one batch write are duplicates.";
        "3c" "The number keys 1 and 1.0 in one transaction are two operations on one item.";
        "3d"
            "A batch get of the number keys 1 and 1.0 returns the item once or rejects the \
             duplicate.";
        "4a" "Number sort keys are in numeric order, negative numbers before zero.";
        "4b" "Number sort keys that differ in the 38th digit are different and in order.";
        "4c" "String sort keys are in the order of their UTF-8 bytes.";
        "4d" "Binary sort keys are in the order of their unsigned bytes, whatever their lengths.";
        "5a" "Addition and subtraction are decimal and exact.";
        "5b" "A sum beyond the largest magnitude is rejected and changes nothing.";
        "5c" "A sum that needs more than 38 digits is rejected and changes nothing.";
        "6a"
            "The size of a number is 1 byte, plus 1 byte per two significant digits on each \
             side of the decimal point.";
        "6b" "A negative number is 1 byte larger than the positive one.";
        "6c" "Zeros at the start and the end of a number have no size: 100 and 1E125 have 2 bytes.";
        "7a"
            "The size of an item is the UTF-8 length of its attribute names plus the size of \
             its values.";
        "7b" "A list or map has 3 bytes, plus 1 byte per element, besides its contents.";
        "7c" "A NULL or BOOL has 1 byte.";
        "7d"
            "A put of 409,600 bytes is accepted; one of 409,601 bytes is rejected with \
             ValidationException.";
        "7e"
            "A put of 409,600 bytes in a batch is accepted; one of 409,601 bytes is rejected \
             with ValidationException.";
        "7f"
            "A put of 409,600 bytes in a transaction is accepted; one of 409,601 bytes is \
             rejected with ValidationException.";
        "8a"
            "An update that makes an item larger than 409,600 bytes is rejected with \
             ValidationException.";
        "8b"
            "An update is limited to 409,600 bytes: its names and values, plus 3 bytes, 19 per \
             value that it writes and 2 per value that it clears.";
        "9a" "Empty strings and binaries are stored in attributes that are no keys.";
        "9b"
            "An empty string or binary in a key of the table is rejected with ValidationException.";
        "9c" "An empty string or binary in an index key is rejected with ValidationException.";
        "9d" "An empty set is rejected at any depth with ValidationException.";
        "9e" "A set can hold an empty string or an empty binary.";
        "9f" "A set with duplicate members is rejected with ValidationException.";
        "9g" "Duplicates in a number set are detected by value: 1 and 1.0 are duplicates.";
        "10a" "A NULL attribute with the value false is rejected with ValidationException.";
        "10b" "A value of 31 nested containers is accepted.";
        "10c" "A value of 32 nested containers is rejected with ValidationException.";
        "11a" "Sets are equal whatever the order of their members.";
        "11b" "Sets are returned sorted: strings and binaries by bytes, numbers by value.";
        "12a"
            "A partition key of 2048 bytes is accepted; one of 2049 bytes is rejected with \
             ValidationException.";
        "12b"
            "A sort key of 1024 bytes is accepted; one of 1025 bytes is rejected with \
             ValidationException.";
        "12c" "Key sizes are also checked on reads.";
        "12d" "An empty attribute name is rejected with ValidationException.";
    }

    Conditions {
        "13a"
            "A reserved word that is used as a bare name in a condition is rejected with \
             ValidationException.";
        "13b" "Reserved words are recognized in any letter case.";
        "13c"
            "A reserved word is rejected as a bare name in filters, key conditions, updates and \
             projections too.";
        "13d" "A reserved word can be used behind a name placeholder in every kind of expression.";
        "14a" "A name placeholder that no expression uses is rejected with ValidationException.";
        "14b" "A value placeholder that no expression uses is rejected with ValidationException.";
        "14c"
            "Placeholders in a request without expressions are rejected with \
             ValidationException by every operation.";
        "14d" "Name placeholders must begin with #, value placeholders with a colon.";
        "14e" "A placeholder can be a number, such as #0 or :0.";
        "15a" "An expression of 4096 bytes is accepted; one of 4097 bytes is rejected.";
        "15b"
            "The length of an expression is that of its text, before placeholders are substituted.";
        "15c" "A placeholder of 255 bytes is accepted; a longer one is rejected.";
        "15d" "IN accepts 100 operands and rejects 101.";
        "15e" "An expression with 300 operators is accepted; one with 301 is rejected.";
        "16a" "Redundant doubled parentheses are rejected with ValidationException.";
        "16b" "Single parentheses around conditions and operands are accepted.";
        "16c" "The rules for parentheses are the same in transactions.";
        "17a"
            "BETWEEN with constant bounds in the wrong order is rejected with \
             ValidationException, whatever the item.";
        "17b"
            "BETWEEN with constant bounds of two types is rejected with ValidationException, \
             whatever the item.";
        "17c"
            "begins_with with a constant that is neither S nor B is rejected with \
             ValidationException, whatever the item.";
        "17d" "A comparison of a path with itself is rejected with ValidationException.";
        "18a" "A comparison with a missing attribute is false.";
        "18b" "<> with a missing attribute is true.";
        "18c" "NOT negates a condition, also one on a missing attribute.";
        "18d" "A comparison with the size of a missing attribute is false.";
        "19a" "The size of a string is its length in UTF-16 code units.";
        "19b" "The size of a binary is its length in bytes.";
        "19c" "The size of a set, list or map is the number of its elements.";
        "20a" "contains finds a substring of a string.";
        "20b" "contains finds a member of a set.";
        "20c" "contains compares the numbers of a set by value.";
        "20d" "contains finds an element of a list.";
        "20e" "The second operand of attribute_type must be a value placeholder.";
        "20f" "The second operand of attribute_type must be a type code, such as S or NS.";
        "21a" "A comparison of values of two types is false, and is no error.";
    }

    Projections {
        "22a" "Two paths of which one contains the other are rejected with ValidationException.";
        "22b" "Two placeholders for one attribute are rejected with ValidationException.";
        "22c" "Overlapping paths are rejected even if the item is missing.";
        "22d" "Paths to siblings return one map.";
        "22e" "Paths through one list element return it as one element.";
        "22f" "List elements are returned without gaps, in the order of their indexes.";
        "22g" "A projection that matches nothing of an existing item returns an empty item.";
        "22h" "Key attributes are returned only if the projection names them.";
    }

    Updates {
        "23a"
            "All clauses of an update read the item as it was before: SET a = b, b = :x stores \
             the old b in a.";
        "23b" "REMOVE counts the list elements as they were before the update.";
        "23c"
            "Two paths that are equal or of which one contains the other are rejected with \
             ValidationException.";
        "23d" "Each of the keywords SET, REMOVE, ADD and DELETE can occur once in an update.";
        "23e" "Key attributes cannot be changed by any clause.";
        "24a" "SET of a list element past the end appends it without padding.";
        "24b" "Several list elements past the end are appended in the order of their indexes.";
        "24c" "A path whose parent is missing is rejected with ValidationException.";
        "24d" "A path whose parent is of another type is rejected with ValidationException.";
        "24e" "REMOVE of a missing value does nothing.";
        "25a" "list_append puts its first list before its second.";
        "25b" "list_append accepts if_not_exists as an operand.";
        "25c" "Parentheses around functions, operands and sums are accepted.";
        "25d" "Functions can be operands of an addition or subtraction.";
        "26a" "ADD accepts only numbers and sets.";
        "26b" "ADD to a missing number counts from 0.";
        "26c" "ADD creates a missing set, and forms the union with an existing one.";
        "26d" "DELETE accepts only sets.";
        "26e" "DELETE of the last member of a set removes the attribute.";
        "26f"
            "SET n = n + :x with a missing n is rejected with ValidationException and creates \
             no item.";
        "27a" "An update with a key and no expression creates a missing item.";
        "27b" "An update with a key and no expression does not change an existing item.";
    }

    KeyConditions {
        "21b"
            "A key condition with a value of another type than the key is rejected with \
             ValidationException.";
        "28a" "A query without equality on the partition key is rejected with ValidationException.";
        "28b" "Two conditions on one key attribute are rejected with ValidationException.";
        "28c" "A range on the partition key is rejected with ValidationException.";
        "28d" "begins_with on the partition key is rejected with ValidationException.";
        "28e"
            "A key condition on an attribute that is no key is rejected with ValidationException.";
        "28f" "Every comparison except <>, BETWEEN and begins_with select ranges of the sort key.";
        "28g" "The operands of a comparison can be swapped: `:v < sk`.";
        "28h" "begins_with on a sort key is case-sensitive.";
        "28i" "A nested path in a key condition is rejected with ValidationException.";
    }

    Writes {
        "29a" "A put accepts only the return values NONE and ALL_OLD.";
        "29b" "A delete accepts only the return values NONE and ALL_OLD.";
        "29c" "An update returns no attributes by default.";
        "29d" "An update with ALL_OLD returns the item as it was before.";
        "29e" "An update with ALL_NEW returns the item as it is afterwards.";
        "29f" "An update with UPDATED_OLD returns the updated attributes as they were before.";
        "29g" "An update with UPDATED_NEW returns the updated attributes as they are afterwards.";
        "29h" "UPDATED_NEW of a nested path returns only the updated fragment.";
        "29i" "UPDATED_NEW returns no attributes if nothing was set.";
        "29j" "ALL_OLD of a missing item returns no attributes.";
        "30a" "A put whose condition fails returns the stored item in the error if requested.";
        "30b" "An update whose condition fails returns the stored item in the error if requested.";
        "30c" "A delete whose condition fails returns the stored item in the error if requested.";
        "31a"
            "A condition on a missing item is evaluated on an empty item, so that \
             attribute_not_exists is true.";
        "31b" "An update whose condition fails on a missing item creates no item.";
        "31c"
            "A condition that needs an attribute fails on a missing item, for put, update and \
             delete.";
        "33a" "Deleting a missing item succeeds.";
        "34a" "A put with an index key of the wrong type is rejected with ValidationException.";
        "34b"
            "An update that gives an index key the wrong type is rejected with \
             ValidationException.";
        "34c" "An empty index key is rejected with ValidationException, on put and update.";
        "34d"
            "A list, map, set, BOOL or NULL as an index key is rejected with ValidationException.";
    }

    Batches {
        "35a" "BatchWriteItem accepts 25 writes and rejects 26 with ValidationException.";
        "35b"
            "A batch of 25 items of the largest size is written, or the rest is returned as \
             unprocessed items.";
        "35c"
            "Two puts of one key in a batch are rejected with ValidationException, and nothing \
             is written.";
        "35d"
            "A put and a delete of one key in a batch are rejected with ValidationException, \
             and nothing is written.";
        "35e" "A put in a batch has no condition and replaces an existing item.";
        "35f" "A batch that was written completely returns no unprocessed items.";
        "35g" "BatchGetItem accepts 100 keys and rejects 101 with ValidationException.";
        "35h" "A batch get with a duplicate key is rejected with ValidationException.";
        "35i" "A batch get of more than 16 MB returns the remaining keys as unprocessed keys.";
        "59a" "A delete of a missing item in a batch consumes 1 write capacity unit.";
    }

    Transactions {
        "30d" "The cancellation reason of a failed condition returns the item if requested.";
        "36a" "A transaction is limited to 100 operations.";
        "36b" "A transaction is limited to 4 MB of items.";
        "36c" "Two operations of a transaction on one item are rejected with ValidationException.";
        "36d" "A transaction can span several tables.";
        "37a"
            "Cancellation reasons are in the order of the operations, with None for those that \
             did not fail.";
        "37b"
            "The message of TransactionCanceledException lists the codes in the order of the \
             operations.";
        "37c" "Every failed operation has a cancellation reason, not only the first.";
        "38a" "An empty key rejects the transaction as a whole with ValidationException.";
        "38b"
            "A put of an item over 400 KB rejects the transaction as a whole with \
             ValidationException.";
        "38c"
            "An expression with a syntax error or over its size limit rejects the transaction \
             as a whole with ValidationException.";
        "38d" "An unused placeholder rejects the transaction as a whole with ValidationException.";
        "38e" "An invalid table name rejects the transaction as a whole with ValidationException.";
        "38f" "A key of the wrong type cancels the transaction with the reason ValidationError.";
        "38g"
            "An index key of the wrong type cancels the transaction with the reason \
             ValidationError.";
        "38h"
            "An update that makes the item larger than 400 KB cancels the transaction with the \
             reason ValidationError.";
        "38i" "A missing table fails the transaction with ResourceNotFoundException.";
        "39a"
            "A single write that is concurrent with a transaction succeeds or fails with \
             TransactionConflictException.";
        "39b"
            "A transaction that is concurrent with another succeeds or is canceled with the \
             reason TransactionConflict.";
        "39c"
            "A transactional read that is concurrent with writes is consistent or is canceled \
             with the reason TransactionConflict.";
        "39d" "GetItem never fails with a conflict.";
        "41a" "Transactions and concurrent single writes lose no update.";
        "41b" "GetItem returns no state older than one that was read before.";
        "41c"
            "Concurrent transactions have no write skew: of two that check what the other \
             writes, at most one succeeds.";
        "41d" "Query, Scan and BatchGetItem return only committed items.";
        "41e" "A transactional read returns all items as of one moment.";
        "42a" "A transactional write consumes twice the units of a single write on the table.";
        "42b" "A transactional write consumes the units of a single write on an index.";
        "42c" "A ConditionCheck consumes 2 write capacity units.";
        "42d" "Index entries change together with the transaction or not at all.";
        "42e" "Stream records are written together with the transaction or not at all.";
        "42f" "The request token is stored together with the transaction or not at all.";
        "43a" "Conditions see the items as they were before the transaction.";
        "43b" "A ConditionCheck of attribute_not_exists is true for a missing item.";
        "43c" "A ConditionCheck that fails cancels all writes of the transaction.";
    }

    Tokens {
        "40a"
            "A transaction that is sent again with the same request token and content succeeds \
             and changes nothing.";
        "40b" "A repeated transaction with a request token reports read capacity units.";
        "40c"
            "A request token with other content is rejected with \
             IdempotentParameterMismatchException, and nothing is changed.";
        "40d" "A request token is kept for ten minutes.";
        "40e" "Of concurrent calls with one request token, one is executed.";
        "40f" "A failed transaction leaves its request token unused.";
    }

    Query {
        "44a" "Limit counts the items that are read, before the filter.";
        "44b" "A page can have no items and still have a last evaluated key.";
        "44c"
            "Count is the number of items that pass the filter, ScannedCount the number of \
             items that are read.";
        "45a" "A page ends at 1 MB of the items that are read, before the filter.";
        "45b" "A page ends at 1 MB of whole items, before the projection.";
        "45c" "A page of an index ends at 1 MB of projected attributes.";
        "45d" "An item that exceeds what remains of the 1 MB is still returned on the page.";
        "48a"
            "A consistent query of a global secondary index is rejected with ValidationException.";
        "48b" "A consistent scan of a global secondary index is rejected with ValidationException.";
        "48c"
            "A consistent COUNT of a global secondary index is rejected with ValidationException.";
        "48d" "A consistent read of a local secondary index is accepted.";
        "50a" "COUNT with a projection is rejected with ValidationException.";
        "50b" "SPECIFIC_ATTRIBUTES without a projection is rejected with ValidationException.";
        "50c" "ALL_PROJECTED_ATTRIBUTES without an index is rejected with ValidationException.";
        "52a" "A descending query returns the items in descending order of the sort key.";
        "52b" "A descending query stays in its partition, and respects ranges and limits.";
    }

    Scan {
        "51a" "A Segment that is not less than TotalSegments is rejected with ValidationException.";
        "51b" "TotalSegments must be between 1 and 1,000,000.";
        "51c" "Segment and TotalSegments must be given together.";
        "51d" "The segments of a parallel scan are disjoint and together return every item.";
        "51e" "A segment continues at a start key whose item was deleted.";
        "51f" "A scan returns every item once; its order is unspecified.";
    }

    Pagination {
        "46a" "The last evaluated key of an index page has the keys of the index and of the table.";
        "46b" "Items with equal index keys are neither repeated nor skipped between pages.";
        "46c" "A page can start after a key whose item no longer exists.";
        "46d" "A start key of another partition is rejected with ValidationException.";
        "46e"
            "A start key outside the range of the sort key condition is rejected with \
             ValidationException.";
        "46f" "The upper bound of BETWEEN also applies to the second page.";
        "47a"
            "A page that ends at the last item may have a last evaluated key; the next page is \
             then empty.";
        "52c" "A global secondary index without a sort key is paged by the keys of the table.";
    }

    Indexes {
        "34e" "An item without the partition key of an index is not in the index.";
        "34f" "An item without the sort key of an index is not in the index.";
        "49a" "A global secondary index returns only the attributes that it projects.";
        "49b"
            "A read of attributes that a global secondary index does not project is rejected \
             with ValidationException.";
        "49c" "A local secondary index fetches attributes that it does not project from the table.";
        "49d" "A local secondary index charges for the items that it fetches from the table.";
        "49e"
            "ALL_ATTRIBUTES is rejected with ValidationException for a global secondary index \
             that does not project all attributes.";
        "54e" "An index key can have four partition attributes and four sort attributes.";
        "54f"
            "An index key with five partition attributes or five sort attributes is rejected \
             with ValidationException.";
        "54g" "A query must compare every partition attribute of the index by equality.";
        "54h" "A query can compare a leading part of the sort attributes, without gaps.";
        "54i" "An inequality is accepted only on the last sort attribute of the key condition.";
    }

    Tables {
        "53a" "A created table is ACTIVE and is described as it was requested.";
        "53b"
            "A key attribute of a table or index without an attribute definition is rejected \
             with ValidationException.";
        "53c" "An attribute definition that no key uses is rejected with ValidationException.";
        "53d" "A table is limited to 20 global secondary indexes.";
        "53e" "A table is limited to 5 local secondary indexes.";
        "53f" "An INCLUDE projection must name attributes.";
        "53g" "The indexes of a table are limited to 100 attributes named in projections.";
        "53h" "A table with deletion protection cannot be deleted.";
        "54a" "An UpdateTable call can create or delete only one index.";
        "54b" "An added index has the items that existed before.";
        "54c" "Items whose attributes have the wrong type for an added index are left out of it.";
        "54d" "An added index is ACTIVE when the call returns, and a deleted one no longer exists.";
        "61a" "Table names must have 3 to 255 characters.";
        "61b" "Table names may contain only letters, digits, underscores, hyphens and dots.";
        "61c" "A table can be named by its ARN.";
    }

    Ttl {
        "55a" "Only a top-level number attribute expires an item.";
        "55b" "The expiry time is in seconds since the Unix epoch.";
        "55c" "An item whose expiry time is more than five years in the past is kept.";
        "55d" "An expired item is read, written and counted until it is deleted.";
        "55e" "Expired items are deleted in the background, from the table and its indexes.";
        "55f" "The stream records an expiry as a REMOVE by the DynamoDB service.";
        "55g" "The TTL attribute can be changed only after TTL is disabled.";
        "55h" "The TTL settings can be changed only once per hour.";
    }

    Streams {
        "56a" "Stream records are kept for 24 hours.";
        "56b" "Each change of an item has exactly one stream record.";
        "56c" "The stream records of an item are in the order of its changes.";
        "56d" "A KEYS_ONLY record has the keys of the item and no image.";
        "56e" "A NEW_IMAGE record has the item after the change.";
        "56f" "An OLD_IMAGE record has the item before the change.";
        "56g" "A NEW_AND_OLD_IMAGES record has the item before and after the change.";
        "56h" "A put or update that does not change the item writes no stream record.";
        "56i"
            "The event is INSERT for a new item, MODIFY for an existing one, and REMOVE for a \
             deleted one.";
        "56j" "Sequence numbers have 21 to 40 digits and increase.";
        "56k" "Event ids are unique.";
        "56l" "TRIM_HORIZON begins at the oldest record, LATEST after the newest one.";
        "56m" "AT_SEQUENCE_NUMBER begins at a record, AFTER_SEQUENCE_NUMBER after it.";
        "56n" "An invalid sequence number is rejected with ValidationException.";
        "56o" "A disabled stream can still be read, and records no further changes.";
        "56p" "The view type of an enabled stream cannot be changed.";
        "56q" "A shard filter lists the children of a shard.";
        "57a" "A transaction writes one stream record per changed item, as single writes do.";
    }

    Capacity {
        "58a" "An eventually consistent read consumes 0.5 read capacity units per 4 KB.";
        "58b" "A strongly consistent read consumes 1 read capacity unit per 4 KB.";
        "58c" "A transactional read consumes 2 read capacity units per 4 KB.";
        "58d" "A read is charged by the size of whole items, before projection, filter and COUNT.";
        "58e" "A query or scan adds up the sizes of its items before it rounds up to 4 KB.";
        "58f"
            "A read of a missing item consumes the minimum: 0.5 read capacity units, or 1 if \
             strongly consistent.";
        "58g"
            "A write consumes 1 write capacity unit per KB of the larger of the old and the new \
             item.";
        "58h"
            "A write that changes no projected attribute of an index entry consumes no units on \
             the index.";
        "58i" "An index entry that is added, changed or removed is charged once, by its size.";
        "58j"
            "An index entry that moves to another index key is charged twice: for its deletion \
             and its insertion.";
        "58k" "ReturnConsumedCapacity INDEXES breaks the units down by table and index.";
        "60a" "Item collection metrics are returned only for tables with local secondary indexes.";
        "60b" "The size of a small item collection is estimated as 0 to 1 GB.";
    }

    Laws {
        "32a" "Concurrent unconditional writes never fail.";
        "32b" "Concurrent ADDs to one number all count.";
    }
}
